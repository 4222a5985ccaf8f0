// Durations drawn from a seed: any of them can be anything between the schedule's bounds.
#pragma once

#include "impls/lazarus/campaign/schedule.hpp"
#include "impls/lazarus/simulated/durations.hpp"
#include "suite/drive/simulated/virtual_time.hpp"
#include "suite/scenario/dice.hpp"

namespace assay::lazarus::campaign {

class RandomDurations final : public Durations {
  public:
    /// All must outlive it.
    RandomDurations(const Schedule& schedule, const drive::VirtualTime& time, KeyedDice& dice)
        : schedule_(schedule), time_(time), dice_(dice) {}

    double starting(Worker worker) override { return between(0.5, 20, "starting", {worker}); }
    double message(Worker worker) override {
        return between(0, schedule_.slowest_message, "message", {worker});
    }
    double detection(Worker worker, bool) override {
        return between(0.1, schedule_.slowest_detection, "detection", {worker});
    }
    double eviction(Worker worker) override { return detection(worker, true); }
    double silence() override { return schedule_.silence; }
    double patience() override { return schedule_.patience; }
    double endurance() override { return schedule_.endurance; }

    double building(const Reconfigure& plan, Worker worker) override {
        return between(1, 5, "building", {worker, plan.epoch}) + worst_link(plan.members);
    }
    double moving(const Reconfigure& plan, Worker from, Worker to) override {
        return between(2, 20, "moving", {from, to, plan.epoch}) +
               links().delay_s(from, to, time_.now());
    }
    double restoring(const Reconfigure& plan, Worker worker) override {
        return between(1, 20, "restoring", {worker, plan.epoch});
    }

    double computing(const Reconfigure& plan, Step step, Worker worker) override {
        return slowdown(worker) * between(3, 15, "computing", {worker, plan.epoch, step});
    }
    double summing(const Reconfigure& plan, Step step, Worker worker) override {
        return between(0.5, 10, "summing", {worker, plan.epoch, step}) + worst_link(plan.training);
    }
    double written(Worker worker, int part, int) override {
        return schedule_.slowest_write * (part + between(0.1, 1, "written", {worker, part}));
    }
    std::vector<Loads> loads(const Reconfigure& plan, Step step) override {
        return routed(schedule_.job.layers, schedule_.job.experts, schedule_.seed, step,
                      plan.training);
    }

  private:
    double between(double low, double high, std::string_view kind,
                   std::initializer_list<std::int64_t> of) {
        return dice_.next(kind, of).between(low, high);
    }
    double worst_link(const std::vector<Worker>& workers) {
        return links().worst_among(workers, time_.now()).delay_s;
    }

    const Schedule& schedule_;
    const drive::VirtualTime& time_;
    KeyedDice& dice_;
};

}  // namespace assay::lazarus::campaign
