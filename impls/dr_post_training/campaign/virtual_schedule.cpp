#include "impls/dr_post_training/campaign/virtual_schedule.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace assay::dr_post_training {
namespace {

struct BrokenRule {
    std::string why;
};

using State = std::uint64_t;
constexpr State initial = 0x243f6a8885a308d3;

/// What a step makes of a state (splitmix64).
State after_step(State state, Step step) {
    State z = state + 0x9e3779b97f4a7c15 * static_cast<State>(step + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

std::string digest_of(State state) { return fmt::format("{:016x}", state); }

class VirtualTraining {
  public:
    VirtualTraining(std::uint64_t seed, Misdeed misdeed)
        : random_(seed),
          misdeed_(misdeed),
          settings_(draw_settings()),
          guard_(true, settings_),
          trouble_left_(1 + below(8)) {
        states_.push_back(initial);
        for (Step step = 0; step < settings_.steps; ++step)
            states_.push_back(after_step(states_.back(), step));
    }

    drive::SeedOutcome run() {
        drive::SeedOutcome outcome;
        try {
            spawn();
            for (long turns = 0; !stop_; ++turns) {
                if (turns > 100000) throw BrokenRule{"it does not come to an end"};
                turn();
            }
            check_the_end();
            outcome.ok = true;
        } catch (const BrokenRule& broken) {
            outcome.why = broken.why;
        }
        const auto& counts = guard_->counts();
        outcome.counts = counts_;
        outcome.counts.merge(
            std::map<std::string, long>{{"steps", static_cast<long>(guard_->stored())},
                                        {"redone", counts.redone},
                                        {"restored", counts.restored},
                                        {"restarted", counts.restarted},
                                        {"evicted", counts.evicted},
                                        {"repeated", counts.repeated},
                                        {"unwritten", counts.unwritten},
                                        {"unreadable", counts.unreadable},
                                        {"finished", stop_ && stop_->ok ? 1 : 0},
                                        {"failed", stop_ && !stop_->ok ? 1 : 0}});
        outcome.says = fmt::format("{} steps, a checkpoint every {}: {}", settings_.steps,
                                   settings_.checkpoint_every, says_.empty() ? "nothing" : says_);
        return outcome;
    }
    const auto& decisions() const { return guard_.decisions(); }

  private:
    struct Worker {
        bool alive = true, frozen = false;
        std::deque<GuardAction> inbox;
        std::deque<GuardEvent> outbox;
        std::optional<State> state;
        bool computed_nan = false;  ///< what it would apply
    };
    struct Checkpoint {
        State state = 0;
        bool torn = false;
    };

    std::uint64_t below(std::uint64_t n) { return random_() % n; }

    GuardSettings draw_settings() {
        GuardSettings settings;
        settings.steps = 3 + static_cast<Step>(below(12));
        settings.checkpoint_every = static_cast<Step>(below(4));
        settings.generations = 1 + static_cast<int>(below(3));
        return settings;
    }

    void note(const char* kind) {
        ++counts_[std::string("fault.") + kind];
        says_ += fmt::format("{}{} at {}", says_.empty() ? "" : ", ", kind, guard_->stored());
    }

    // ---- what happens, in an order of the seed's own -------------------------------------------
    Worker& newest() { return workers_.back(); }
    WorkerId newest_id() const { return static_cast<WorkerId>(workers_.size()) - 1; }

    void turn() {
        std::vector<std::size_t> busy;
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            const Worker& worker = workers_[i];
            if (!worker.outbox.empty() || (worker.alive && !worker.frozen && !worker.inbox.empty()))
                busy.push_back(i);
        }
        if (trouble_left_ > 0 && below(10) == 0) {
            --trouble_left_;
            return make_trouble();
        }
        if (busy.empty()) {
            if (!timer_) throw BrokenRule{"everybody waits for ever"};
            const auto timer = *timer_;
            timer_.reset();
            return tell(Timer{timer});
        }
        const std::size_t chosen = busy[below(busy.size())];
        Worker& worker = workers_[chosen];
        const bool hears = worker.alive && !worker.frozen && !worker.inbox.empty();
        if (!hears || (!worker.outbox.empty() && below(2) == 0)) {
            const GuardEvent event = worker.outbox.front();
            worker.outbox.pop_front();
            return tell(event);
        }
        const GuardAction action = worker.inbox.front();
        worker.inbox.pop_front();
        std::visit([&](const auto& order) { obey(static_cast<WorkerId>(chosen), worker, order); },
                   action);
    }

    void make_trouble() {
        Worker& worker = newest();
        switch (below(7)) {
            case 0:
                note("kill");
                return kill(newest_id());
            case 1:
                note("hang");
                worker.frozen = true;
                return;
            case 2:
                note("corrupt");
                if (worker.state) *worker.state ^= State{1} << below(64);
                return;
            case 3:
                note("nan");
                nan_left_ += 1;
                return;
            case 4:
                note("nan_twice");
                nan_left_ += 2;
                return;
            case 5:
                note("disk_full");
                ++full_left_;
                return;
            default:
                note("torn");
                ++torn_left_;
        }
    }

    void spawn() {
        workers_.emplace_back();
        newest().outbox.push_back(Joined{.worker = newest_id(), .more = false});
    }

    void kill(WorkerId id) {
        Worker& worker = workers_.at(static_cast<std::size_t>(id));
        if (!worker.alive) return;
        worker.alive = false;
        worker.inbox.clear();
        // What it was about to say is lost, or not.
        if (below(2) == 0) worker.outbox.clear();
        worker.outbox.push_back(Died{id});
    }

    // ---- the guard -----------------------------------------------------------------------------
    void tell(const GuardEvent& event) {
        if (const auto* computed = std::get_if<Computed>(&event)) {
            if (computed->finite || computed->worker != nan_of_.first ||
                computed->step != nan_of_.second)
                nans_in_a_row_ = 0;
            if (!computed->finite) {
                nan_of_ = {computed->worker, computed->step};
                ++nans_in_a_row_;
            }
        } else if (!std::holds_alternative<Timer>(event)) {
            nans_in_a_row_ = 0;
        }
        for (const GuardAction& action : guard_.on(event, 0))
            std::visit([&](const auto& one) { carry_out(one); }, action);
    }

    template <class Order>
    void carry_out(const Order& order) {
        Worker& worker = workers_.at(static_cast<std::size_t>(order.worker));
        if (worker.alive) worker.inbox.push_back(order);
    }
    void carry_out(const Spawn&) { spawn(); }
    void carry_out(const drive::StartTimer& timer) { timer_ = timer.id; }
    void carry_out(const drive::Evict& evict) { kill(evict.worker); }
    void carry_out(const drive::Stop& stop) { stop_ = stop; }
    void carry_out(const Note& note) { said_failed_ = said_failed_ || note.kind == "failed"; }
    void carry_out(const DropCheckpoint& drop) { disk_.erase(drop.step); }
    void carry_out(const StoreStep& store) {
        const auto expected = static_cast<Step>(stored_.size());
        if (store.step != expected)
            throw BrokenRule{
                fmt::format("step {} is stored where {} was due", store.step, expected)};
        const auto after = static_cast<std::size_t>(store.step) + 1;
        if (store.digest != digest_of(states_.at(after)))
            throw BrokenRule{
                fmt::format("step {} is not that of a training without faults", store.step)};
        stored_.push_back(store.digest);
    }

    // ---- the worker ----------------------------------------------------------------------------
    template <class Order>
    bool is_damaged(WorkerId id, Worker& worker, const Order& order) {
        if (worker.state && digest_of(*worker.state) == order.digest) return false;
        if (misdeed_ == Misdeed::ignores_damage && worker.state) return false;
        worker.outbox.push_back(
            StateDamaged{.worker = id, .step = order.step, .why = "another digest"});
        return true;
    }

    void obey(WorkerId id, Worker& worker, const Restore& order) {
        const auto refuse = [&](const char* why) {
            worker.outbox.push_back(RestoreFailed{.worker = id, .step = order.step, .why = why});
        };
        worker.state = initial;
        if (order.step > 0) {
            const auto found = disk_.find(order.step);
            if (found == disk_.end()) return refuse("it is missing");
            if (found->second.torn && misdeed_ != Misdeed::believes_torn) return refuse("torn");
            worker.state = found->second.torn ? found->second.state ^ 1 : found->second.state;
        }
        worker.outbox.push_back(
            Restored{.worker = id, .step = order.step, .digest = digest_of(*worker.state)});
    }

    void compute(WorkerId id, Worker& worker, Step step) {
        worker.computed_nan = nan_left_ > 0;
        if (worker.computed_nan) --nan_left_;
        worker.outbox.push_back(
            Computed{.worker = id,
                     .step = step,
                     .finite = !worker.computed_nan || misdeed_ == Misdeed::applies_nan});
    }
    void obey(WorkerId id, Worker& worker, const Compute& order) {
        if (!is_damaged(id, worker, order)) compute(id, worker, order.step);
    }
    void obey(WorkerId id, Worker& worker, const Redo& order) {
        if (!is_damaged(id, worker, order)) compute(id, worker, order.step);
    }
    void obey(WorkerId id, Worker& worker, const Apply& order) {
        if (is_damaged(id, worker, order)) return;
        worker.state = after_step(*worker.state, order.step);
        if (worker.computed_nan) worker.state = ~State{0};
        const bool repeated = order.step < guard_->stored();
        if (repeated && misdeed_ == Misdeed::forgets_a_selection) *worker.state += 1;
        if (repeated && misdeed_ == Misdeed::stores_repeated)
            carry_out(StoreStep{.step = order.step, .digest = digest_of(*worker.state)});
        worker.outbox.push_back(
            Applied{.worker = id, .step = order.step, .digest = digest_of(*worker.state)});
    }
    void obey(WorkerId id, Worker& worker, const WriteCheckpoint& order) {
        if (is_damaged(id, worker, order)) return;
        if (full_left_ > 0) {
            --full_left_;
            worker.outbox.push_back(
                CheckpointFailed{.worker = id, .step = order.step, .why = "disk full"});
            return;
        }
        const bool torn = torn_left_ > 0;
        if (torn) --torn_left_;
        disk_[order.step] = {.state = *worker.state, .torn = torn};
        worker.outbox.push_back(CheckpointWritten{.worker = id, .step = order.step});
    }
    template <class Other>
    void obey(WorkerId, Worker&, const Other&) {
        throw BrokenRule{"a worker was told what is not for it"};
    }

    void check_the_end() {
        for (const auto& [step, checkpoint] : disk_)
            if (!checkpoint.torn && checkpoint.state != states_.at(static_cast<std::size_t>(step)))
                throw BrokenRule{fmt::format("the checkpoint before step {} is poisoned", step)};
        if (static_cast<int>(disk_.size()) > settings_.generations + 1)
            throw BrokenRule{"more checkpoints are kept than were asked for"};
        const bool given_up = nans_in_a_row_ >= settings_.attempts;
        if (stop_->ok == given_up)
            throw BrokenRule{stop_->ok ? "it goes on though a step was not finite twice"
                                       : "it ends without need: " + stop_->why};
        if (!stop_->ok && !said_failed_) throw BrokenRule{"it failed and did not say so"};
        if (stop_->ok) {
            if (static_cast<Step>(stored_.size()) != settings_.steps)
                throw BrokenRule{
                    fmt::format("it ends after {} of {} steps", stored_.size(), settings_.steps)};
            if (newest().state && newest().alive && *newest().state != states_.back() &&
                !damaged_after_the_end())
                throw BrokenRule{"the state at the end is not that of a training without faults"};
        }
        if (drive::first_difference(Guard(settings_), guard_.decisions()))
            throw BrokenRule{"the same events lead to other actions"};
    }
    /// A bit that turned over after the last digest was taken.
    bool damaged_after_the_end() const {
        return stored_.back() == digest_of(states_.back()) && counts_.contains("fault.corrupt");
    }

    std::mt19937_64 random_;
    Misdeed misdeed_;
    GuardSettings settings_;
    drive::RecordedPolicy<Guard> guard_;
    std::uint64_t trouble_left_;
    std::vector<State> states_;  // of a training without faults
    std::deque<Worker> workers_;
    std::map<Step, Checkpoint> disk_;
    std::vector<std::string> stored_;
    std::optional<std::uint64_t> timer_;
    std::optional<drive::Stop> stop_;
    bool said_failed_ = false;
    int nan_left_ = 0, full_left_ = 0, torn_left_ = 0;
    std::pair<WorkerId, Step> nan_of_{-1, -1};
    int nans_in_a_row_ = 0;
    std::map<std::string, long> counts_;
    std::string says_;
};

}  // namespace

drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, Misdeed misdeed) {
    return VirtualTraining(seed, misdeed).run();
}

std::vector<drive::Decision<Guard>> virtual_decisions(std::uint64_t seed) {
    VirtualTraining training(seed, Misdeed::none);
    training.run();
    return training.decisions();
}

}  // namespace assay::dr_post_training
