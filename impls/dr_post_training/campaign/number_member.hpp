// The worker of a guarded training (elastic::Member) without tensors: instead of weights, moments
// and selections it has one number, which every step changes as a step would: out of itself.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "impls/dr_post_training/campaign/virtual_schedule.hpp"
#include "impls/elastic/member.hpp"
#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::dr_post_training {

using Number = std::uint64_t;

inline std::string digest_of(Number state) { return fmt::format("{:016x}", state); }

/// What the workers of a schedule have in common: its disk, and what comes of it without faults.
struct NumberTraining {
    NumberTraining(Step steps, Misdeed does) : misdeed(does), states{0x243f6a8885a308d3} {
        for (Step step = 0; step < steps; ++step) states.push_back(after(step, states.back()));
    }
    static Number after(Step step, Number state) {
        return statistics::scramble(state + 0x9e3779b97f4a7c15 * static_cast<Number>(step + 1));
    }

    struct File {
        Number state = 0;
        bool torn = false;
    };
    Misdeed misdeed;
    std::vector<Number> states;  ///< [s]: before step s
    std::map<Step, File> disk;
    Step stored = 0;  ///< steps that counted so far
};

class NumberMember final : public elastic::Member {
  public:
    NumberMember(WorkerId self, NumberTraining& training) : self_(self), training_(training) {}

    elastic::Plan plan(const drive::AnyMessage& message) override {
        return elastic::plan_of(*message.get<Reconfigure>());
    }

    drive::AnyMessage take(const elastic::Plan& plan) override {
        state_ = training_.states.front();
        if (plan.resume > 0) {
            const auto file = training_.disk.find(plan.resume);
            const bool missing = file == training_.disk.end();
            if (missing || (file->second.torn && !does(Misdeed::believes_torn)))
                return RestoreFailed{self_, plan.epoch(), plan.resume, missing ? "lost" : "torn"};
            state_ = file->second.torn ? file->second.state ^ 1 : file->second.state;
        }
        said_ = digest_of(state_);
        return Ready{self_, plan.epoch(), said_};
    }

    elastic::Outcome compute(const elastic::Plan& plan, const drive::AnyMessage& go) override {
        if (!damaged().empty()) return {};
        computed_nan_ = poisoned_ > 0;
        if (computed_nan_) --poisoned_;
        const bool says = computed_nan_ && !does(Misdeed::applies_nan);
        return {.wrong = says ? "the loss is not a finite number" : "",
                .done = StepDone{self_, plan.epoch(), go.get<elastic::Go>()->step}};
    }

    drive::AnyMessage apply(Step step) override {
        state_ = computed_nan_ ? ~Number{0} : NumberTraining::after(step, state_);
        if (step < training_.stored && does(Misdeed::forgets_a_selection)) ++state_;
        said_ = digest_of(state_);
        return Applied{self_, step, said_};
    }

    drive::AnyMessage write(const drive::AnyMessage& order, const drive::Strike& strike) override {
        const Step step = order.get<WriteCheckpoint>()->step;
        if (strike(FaultKind::disk_full)) return CheckpointFailed{self_, step, "disk full"};
        training_.disk[step] = {state_, strike(FaultKind::torn).has_value()};
        return CheckpointWritten{self_, step};
    }

    std::string damaged() override {
        const bool notices = digest_of(state_) != said_ && !does(Misdeed::ignores_damage);
        return notices ? "another digest" : "";
    }
    void suffer(const drive::Strike& strike) override {
        while (strike(FaultKind::nan)) ++poisoned_;
        while (strike(FaultKind::corrupt)) state_ ^= Number{1} << (13 * ++flipped_ % 64);
    }

  private:
    bool does(Misdeed misdeed) const { return training_.misdeed == misdeed; }

    WorkerId self_;
    NumberTraining& training_;
    Number state_ = 0;
    std::string said_ = digest_of(0);  ///< the digest that the guard knows
    bool computed_nan_ = false;        ///< what it would apply
    int poisoned_ = 0;                 ///< computations to come that are not finite
    int flipped_ = 0;
};

}  // namespace assay::dr_post_training
