// How long anything takes in a training in virtual time, drawn from a seed: what is sent, noticed
// and done comes in another order in each.
#pragma once

#include <initializer_list>
#include <string_view>

#include "impls/elastic/member.hpp"
#include "suite/drive/simulated/world.hpp"
#include "suite/scenario/dice.hpp"

namespace assay::elastic {

/// Seconds, none of them longer than this.
struct SlowestTimes {
    double message = 5, detection = 30, boot = 20;
    double connecting = 5, moving = 20, computing = 15, summing = 10, writing = 20;
};

class DrawnTimes final : public drive::Latencies, public Times {
  public:
    /// The dice must outlive it.
    DrawnTimes(KeyedDice& dice, const SlowestTimes& slowest) : dice_(dice), slowest_(slowest) {}

    double message(WorkerId worker) override { return draw(slowest_.message, "message", {worker}); }
    double detection(WorkerId worker) override {
        return draw(slowest_.detection, "detection", {worker});
    }
    /// Longer than a death takes to be noticed: a freeze is taken for one only then.
    double patience(WorkerId worker) override {
        return slowest_.detection + draw(slowest_.detection, "patience", {worker});
    }
    double boot(WorkerId worker) override { return draw(slowest_.boot, "boot", {worker}); }

    double connecting(WorkerId worker, const Plan& plan) override {
        return draw(slowest_.connecting, "connecting", {worker, plan.epoch()});
    }
    double moving(WorkerId worker, const Plan& plan) override {
        return draw(slowest_.moving, "moving", {worker, plan.epoch()});
    }
    double computing(WorkerId worker, const Plan& plan, Step step) override {
        return draw(slowest_.computing, "computing", {worker, plan.epoch(), step});
    }
    double summing(WorkerId worker, const Plan& plan, Step step) override {
        return draw(slowest_.summing, "summing", {worker, plan.epoch(), step});
    }
    double writing(WorkerId worker, const drive::AnyMessage&) override {
        return draw(slowest_.writing, "writing", {worker});
    }

  private:
    double draw(double slowest, std::string_view kind, std::initializer_list<std::int64_t> of) {
        return dice_.next(kind, of).between(0, slowest);
    }

    KeyedDice& dice_;
    SlowestTimes slowest_;
};

}  // namespace assay::elastic
