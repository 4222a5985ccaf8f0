// Whether a kind of workers has come to work at another pace, from what its ranks say of their
// steps. A policy: no clock, no I/O.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "impls/hetermoe/policy/controller/protocol.hpp"

namespace assay::hetermoe {

/// What a rank computed in a step: real seconds of all its tasks of a kind, forward and backward.
struct ComputedTimes {
    double attention_s = 0;  ///< AF, AB but for the last stage
    double expert_s = 0;     ///< EF, EB
    double moved_s = 0;      ///< XF, XB
    bool operator==(const ComputedTimes&) const = default;
};
ASSAY_FIELDS(ComputedTimes, attention_s, expert_s, moved_s)

/// The times of a profile (policy/profile.hpp) that a rank's step amounts to, seconds of a forward
/// and a backward task together; 0: it had no such task.
struct RankPace {
    double attention_s = 0, old_expert_s = 0, new_expert_s = 0;
};
RankPace pace_of(const ComputedTimes& computed, const Layout& layout, int experts);

struct PaceSettings {
    int window = 5;           ///< steps that are looked at together
    double hysteresis = 1.5;  ///< a pace that differs by less is the same; above 1
};

/// The first window of a training says how long tasks take (Profiled). From then on, each full
/// window is compared: the pace of a kind is that of its slowest rank, whose own is the median over
/// the window, so that no single step decides. A change by less than the hysteresis, from what was
/// said last or from the profiled pace, is none. Windows do not span plans, and a plan's first
/// step, in which memory is found, does not count.
class PaceWatch {
  public:
    /// `planned`: what the first window does not tell is taken from here, in proportion.
    PaceWatch(PaceSettings settings, StageTimes planned, int experts)
        : settings_(settings), planned_(planned), experts_(experts) {}

    /// Of every rank of a committed step. Returns what the controller is to be told: Profiled,
    /// Slow.
    std::vector<Event> step_done(const CommittedStep& step,
                                 const std::vector<ComputedTimes>& ranks);

  private:
    RankPace slowest() const;
    StageTimes profiled(const RankPace& pace) const;
    std::optional<Slow> changed(bool new_kind, double pace_s, double profiled_s);

    PaceSettings settings_;
    StageTimes planned_;
    int experts_;
    Epoch epoch_ = 0;
    std::deque<std::vector<RankPace>> window_;  // of each step, by rank
    std::optional<RankPace> profiled_;
    double new_factor_ = 1, old_factor_ = 1;  // said last
};

}  // namespace assay::hetermoe
