// Guards a training of one worker: when a step counts, when it is done again, from where the
// training goes on, and when it has failed. A policy (suite/drive/policy.hpp): no clock, no I/O.
//
// A step has two halves. First everything is computed and nothing changed; what is not finite is
// computed once more, and given up the second time. Then it is applied. A worker whose state is not
// the one whose digest it said last says so instead of going on. A worker that dies or is silent is
// replaced; the new one, and one with a damaged state, takes the newest checkpoint that can be
// read. Steps that were stored before are then computed again and must lead to the same digests;
// they are not stored again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "impls/dr_post_training/policy/guard/protocol.hpp"

namespace assay::dr_post_training {

/// What its recorded decisions are called (suite/drive/recording.hpp).
inline constexpr std::string_view recorded_guard = "dr_post_training/guard";

class Guard {
  public:
    using Event = GuardEvent;
    using Action = GuardAction;
    using Actions = std::vector<Action>;

    /// The driver starts the first worker itself.
    explicit Guard(GuardSettings settings) : settings_(settings) {}

    void on(const Event& event, double now_s, Actions& actions);

    struct Counts {
        long redone = 0;      ///< steps computed again since they were not finite
        long restored = 0;    ///< returns to a checkpoint on a live worker
        long restarted = 0;   ///< workers that replaced another
        long evicted = 0;     ///< silent workers
        long repeated = 0;    ///< stored steps that were applied again
        long unwritten = 0;   ///< checkpoints that could not be written
        long unreadable = 0;  ///< checkpoints that could not be read
        bool operator==(const Counts&) const = default;
    };
    const Counts& counts() const { return counts_; }
    /// Stored steps; the next to store.
    Step stored() const { return stored_; }
    /// Digest of each known state; [s] is before step s.
    const std::map<Step, std::string>& digests() const { return digests_; }
    const std::vector<Step>& checkpoints() const { return checkpoints_; }  ///< oldest first
    bool over() const { return over_; }
    static bool short_of_workers() { return false; }  ///< it always has one under way

  private:
    enum class Awaits { worker, ready, step, applied, checkpoint, death, nothing };

    void handle(const Joined&, Actions&);
    void handle(const Died&, Actions&);
    void handle(const Timer&, Actions&);
    void handle(const Ready&, Actions&);
    void handle(const RestoreFailed&, Actions&);
    void handle(const StepDone&, Actions&);
    void handle(const StepFailed&, Actions&);
    void handle(const Applied&, Actions&);
    void handle(const StateDamaged&, Actions&);
    void handle(const CheckpointWritten&, Actions&);
    void handle(const CheckpointFailed&, Actions&);

    /// Whether this is the answer to the order under way.
    template <class Answer>
    bool answers(const Answer& answer, Awaits awaited) const {
        bool same = answer.worker == worker_ && awaits_ == awaited;
        if constexpr (requires { answer.epoch; }) same = same && answer.epoch == epoch_;
        if constexpr (requires { answer.step; }) same = same && answer.step == step_;
        return same;
    }
    template <class Order>
    void order(Awaits answer, Order order, Actions& actions);
    void restore(Actions& actions);
    bool may_recover(const std::string& why, Actions& actions);
    void after_state(Actions& actions);
    void drop(Step step, Actions& actions);
    void fail(const std::string& why, Actions& actions);

    GuardSettings settings_;
    WorkerId worker_ = -1;
    Awaits awaits_ = Awaits::worker;
    std::uint64_t orders_ = 0;  ///< the newest one's timer
    Epoch epoch_ = 0;           ///< states that a worker was told to take, counted
    Step step_ = 0;             ///< of the order under way; what the worker's state is before
    int attempt_ = 1;
    int recoveries_ = 0;  ///< since the newest step was stored
    Step stored_ = 0;
    std::map<Step, std::string> digests_;
    std::vector<Step> checkpoints_;
    bool over_ = false;
    Counts counts_;
};

}  // namespace assay::dr_post_training
