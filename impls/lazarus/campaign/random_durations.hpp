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
    RandomDurations(const Schedule& schedule, const drive::VirtualTime& time, Dice& dice)
        : schedule_(schedule), time_(time), dice_(dice) {}

    double starting(Worker) override { return between(0.5, 20); }
    double message(Worker) override { return between(0, schedule_.slowest_message); }
    double detection(Worker, bool) override { return between(0.1, schedule_.slowest_detection); }
    double eviction(Worker worker) override { return detection(worker, true); }
    double silence() override { return schedule_.silence; }
    double patience() override { return schedule_.patience; }
    double endurance() override { return schedule_.endurance; }

    double building(const Reconfigure& plan, Worker) override {
        return between(1, 5) + worst_link(plan.members);
    }
    double moving(const Reconfigure&, Worker from, Worker to) override {
        return between(2, 20) + links().delay_s(from, to, time_.now());
    }
    double restoring(const Reconfigure&, Worker) override { return between(1, 20); }

    double computing(const Reconfigure&, Step, Worker worker) override {
        return slowdown(worker) * between(3, 15);
    }
    double summing(const Reconfigure& plan, Step, Worker) override {
        return between(0.5, 10) + worst_link(plan.training);
    }
    double written(Worker, int part, int) override {
        return schedule_.slowest_write * (part + between(0.1, 1));
    }
    std::vector<Loads> loads(const Reconfigure& plan, Step step) override {
        return routed(schedule_.job.layers, schedule_.job.experts, schedule_.seed, step,
                      plan.training);
    }

  private:
    double between(double low, double high) { return low + (high - low) * dice_.uniform(); }
    double worst_link(const std::vector<Worker>& workers) {
        return links().worst_among(workers, time_.now()).delay_s;
    }

    const Schedule& schedule_;
    const drive::VirtualTime& time_;
    Dice& dice_;
};

}  // namespace assay::lazarus::campaign
