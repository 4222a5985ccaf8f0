#include "impls/dr_post_training/campaign/virtual_schedule.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "impls/dr_post_training/campaign/number_member.hpp"
#include "impls/elastic/drawn_times.hpp"
#include "impls/elastic/training_run.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"

namespace assay::dr_post_training {
namespace {

using elastic::BrokenRule;

constexpr double step_s = 40;            // about as long as one lasts, with its checkpoint
constexpr long most_decisions = 100000;  // far above any honest run: a livelock

// Almost as long as the guard's patience, and with a frozen worker longer.
constexpr elastic::SlowestTimes slowest{
    .message = 5, .detection = 30, .boot = 20, .connecting = 0, .computing = 15, .summing = 0};

GuardSettings draw_settings(KeyedDice dice) {
    auto draws = dice.next("settings");
    GuardSettings settings;
    settings.steps = 3 + static_cast<Step>(draws.below(12));
    settings.checkpoint_every = static_cast<Step>(draws.below(4));
    settings.generations = 1 + static_cast<int>(draws.below(3));
    settings.patience_s = draws.between(20, 35);
    return settings;
}

class VirtualTraining {
  public:
    VirtualTraining(std::uint64_t seed, Misdeed misdeed)
        : VirtualTraining(seed, draw_settings(KeyedDice(seed)), {}, misdeed) {
        plan_trouble();
    }
    VirtualTraining(std::uint64_t seed, const GuardSettings& settings, FaultPlan faults,
                    Misdeed misdeed)
        : dice_(seed),
          settings_(settings),
          training_(settings_.steps, misdeed),
          times_(dice_, slowest),
          cluster_(
              {{.name = {},
                .protocol =
                    [this](drive::Worker& worker) {
                        members_.push_back(std::make_unique<NumberMember>(worker.id(), training_));
                        return elastic::member(worker, *members_.back(), {.outlives_damage = true},
                                               times_);
                    }}},
              time_, times_, {.faults = std::move(faults)}, recorder_),
          run_(Guard(settings_), cluster_, {.steps = settings_.steps, .alone = true},
               {.told = [this](const GuardEvent& event) { check(event); },
                .decided = [this](std::vector<GuardAction>& actions) { carry_out(actions); }}) {
        cluster_.spawn({});
    }

    drive::SeedOutcome run() {
        drive::SeedOutcome outcome;
        std::optional<drive::Stop> stop;
        try {
            stop = run_.run();
            if (!stop) throw BrokenRule{"all wait for ever"};
            check_the_end(*stop);
            outcome.ok = true;
        } catch (const BrokenRule& broken) {
            outcome.why = fmt::format("at {:.2f} s: {}", cluster_.now(), broken.why);
        }
        const auto& counts = run_.controller().counts();
        outcome.counts = {{"steps", static_cast<long>(run_.controller().stored())},
                          {"redone", counts.redone},
                          {"restored", counts.restored},
                          {"restarted", counts.restarted},
                          {"evicted", counts.evicted},
                          {"late", late_},
                          {"repeated", counts.repeated},
                          {"unwritten", counts.unwritten},
                          {"unreadable", counts.unreadable},
                          {"finished", stop && stop->ok ? 1 : 0},
                          {"failed", stop && !stop->ok ? 1 : 0}};
        for (const auto& event : recorder_.events)
            if (event.kind == "fault")
                ++outcome.counts["fault." + event.detail.at("kind").get<std::string>()];
        outcome.says = fmt::format("{} steps, a checkpoint every {}: {}", settings_.steps,
                                   settings_.checkpoint_every, says_);
        return outcome;
    }
    const auto& decisions() const { return run_.decisions(); }

  private:
    // Strikes whichever worker is there then.
    void plan_trouble() {
        constexpr std::array kinds{FaultKind::kill, FaultKind::hang,      FaultKind::corrupt,
                                   FaultKind::nan,  FaultKind::disk_full, FaultKind::torn};
        auto draws = dice_.next("faults");
        for (auto left = 1 + draws.below(8); left > 0; --left) {
            Fault fault{.kind = kinds[draws.below(kinds.size())]};
            if (fault.kind == FaultKind::corrupt) fault.target = "tensor";
            if (fault.kind == FaultKind::hang && draws.chance(0.5))
                fault.for_s = draws.between(0, 60);
            const int times = fault.kind == FaultKind::nan && draws.chance(0.5) ? 2 : 1;
            const double t_s = step_s * static_cast<double>(settings_.steps) * draws.uniform();
            says_ += fmt::format("{}{} at {:.0f} s", says_.empty() ? "" : ", ",
                                 to_string(fault.kind), t_s);
            for (int i = 0; i < times; ++i)
                time_.at(t_s, [this, fault]() mutable {
                    fault.rank = static_cast<int>(members_.size()) - 1;
                    cluster_.strike(fault);
                });
        }
    }

    // ---- what the guard is told ----------------------------------------------------------------
    void check(const GuardEvent& event) {
        if (++decisions_ > most_decisions) throw BrokenRule{"it does not come to an end"};
        if (std::holds_alternative<Timer>(event)) unaware_ = run_.controller();
        told_ = &event;
        std::visit([this](const auto& one) { heard(one); }, event);
    }
    void heard(const Joined&) {}
    void heard(const Timer&) {}
    void heard(const Died&) {
        in_force_ = -1;
        unaware_.reset();
        ++recoveries_;
    }
    template <class Answer>
    void heard(const Answer& answer) {
        if (answer.worker == in_force_)
            counts(answer);
        else
            ++late_;
    }
    void counts(const StepFailed& failed) {
        const std::pair step(failed.epoch, failed.step);
        failures_ = failed_ == step ? failures_ + 1 : 1;
        failed_ = step;
    }
    void counts(const StateDamaged&) { ++recoveries_; }
    void counts(const CheckpointWritten& written) { kept_.insert(written.step); }
    template <class Other>
    void counts(const Other& other) {
        if constexpr (requires { other.digest; }) last_digest_ = other.digest;
    }

    // ---- what it does about it -----------------------------------------------------------------
    void carry_out(std::vector<GuardAction>& actions) {
        const auto* applied = std::get_if<Applied>(told_);
        if (training_.misdeed == Misdeed::stores_repeated && applied &&
            applied->step < training_.stored)
            actions.push_back(StoreStep{applied->step, applied->digest});
        if (training_.misdeed == Misdeed::believes_the_evicted && unaware_ && in_force_ < 0)
            unaware_->on(*told_, cluster_.now(), actions);
        for (const GuardAction& action : actions)
            std::visit([this](const auto& one) { check(one); }, action);
        std::erase_if(actions, [](const GuardAction& action) {  // what is not for the worker
            return std::holds_alternative<StoreStep>(action) ||
                   std::holds_alternative<DropCheckpoint>(action) ||
                   std::holds_alternative<Note>(action);
        });
    }
    void check(const Reconfigure& plan) { in_force_ = plan.members.front(); }
    void check(const drive::Evict&) { in_force_ = -1; }
    void check(const StoreStep& store) {
        if (store.step != training_.stored)
            throw BrokenRule{
                fmt::format("step {} is stored where {} was due", store.step, training_.stored)};
        if (store.digest !=
            digest_of(training_.states.at(static_cast<std::size_t>(++training_.stored))))
            throw BrokenRule{
                fmt::format("step {} is not that of a training without faults", store.step)};
        recoveries_ = 0;
    }
    void check(const DropCheckpoint& drop) {
        training_.disk.erase(drop.step);
        kept_.erase(drop.step);
    }
    void check(const Note& note) { said_failed_ = said_failed_ || note.kind == "failed"; }
    template <class Other>
    void check(const Other&) {}

    void check_the_end(const drive::Stop& stop) const {
        for (const auto& [step, file] : training_.disk)
            if (!file.torn && file.state != training_.states.at(static_cast<std::size_t>(step)))
                throw BrokenRule{fmt::format("the checkpoint before step {} is poisoned", step)};
        if (static_cast<int>(kept_.size()) > settings_.generations)
            throw BrokenRule{"more checkpoints are kept than were asked for"};
        const bool given_up =
            failures_ >= settings_.attempts || recoveries_ > settings_.most_recoveries;
        if (stop.ok == given_up)
            throw BrokenRule{stop.ok ? "it goes on though it was to be given up"
                                     : "it ends without need: " + stop.why};
        if (!stop.ok && !said_failed_) throw BrokenRule{"it failed and did not say so"};
        if (stop.ok && training_.stored != settings_.steps)
            throw BrokenRule{
                fmt::format("it ends after {} of {} steps", training_.stored, settings_.steps)};
        if (stop.ok && last_digest_ != digest_of(training_.states.back()))
            throw BrokenRule{"the state at the end is not that of a training without faults"};
        if (drive::first_difference(Guard(settings_), run_.decisions()))
            throw BrokenRule{"the same events lead to other actions"};
    }

    KeyedDice dice_;
    GuardSettings settings_;
    NumberTraining training_;
    drive::EventQueue time_;
    elastic::DrawnTimes times_;
    std::vector<std::unique_ptr<NumberMember>> members_;
    MemoryRecorder recorder_;
    drive::VirtualCluster cluster_;
    elastic::TrainingRun<Guard> run_;

    std::string says_;
    long decisions_ = 0, late_ = 0;
    WorkerId in_force_ = -1;            // whose word counts
    const GuardEvent* told_ = nullptr;  // just now
    std::optional<Guard> unaware_;      // as it was before it knew that its patience was at an end
    std::pair<Epoch, Step> failed_{-1, -1};
    int failures_ = 0;     // of that step, in a row
    int recoveries_ = 0;   // since the newest step was stored
    std::set<Step> kept_;  // checkpoints that the guard knows
    std::string last_digest_;
    bool said_failed_ = false;
};

}  // namespace

drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, Misdeed misdeed) {
    return VirtualTraining(seed, misdeed).run();
}

drive::SeedOutcome run_virtual_training(const GuardSettings& settings, const FaultPlan& faults,
                                        std::uint64_t seed) {
    return VirtualTraining(seed, settings, faults, Misdeed::none).run();
}

std::vector<drive::Decision<Guard>> virtual_decisions(std::uint64_t seed) {
    VirtualTraining training(seed, Misdeed::none);
    training.run();
    return training.decisions();
}

}  // namespace assay::dr_post_training
