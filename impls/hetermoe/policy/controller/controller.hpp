// Decides, in a training whose workers come and go, who does what, who holds which expert, and when
// a step counts. A policy (suite/drive/policy.hpp): no clock, no I/O.
//
// A step is committed when every rank has its sums; until then nobody's state changes, so a step
// that breaks is forgotten. What breaks one, or a join, a leave, a slow kind between two, leads to
// a new plan: groups of the live workers, states moved to where the layout wants them from whoever
// holds them, in the same group or another. A block that nobody holds any more sends everyone back
// to the newest whole checkpoint.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "impls/hetermoe/policy/controller/protocol.hpp"

namespace assay::hetermoe {

/// The layout for the live workers of both kinds: the groups wanted, or fewer of them, or where not
/// even one can be had the best that plan() knows of for these GPUs and `settings.times`. Where one
/// kind is gone the other does both: half of its workers have attention, half have experts; old
/// ones only with a time for it (old_attention). Nothing where there is no second worker for that.
std::optional<Layout> layout_for(const ControllerSettings& settings,
                                 const std::vector<Worker>& new_workers,
                                 const std::vector<Worker>& old_workers);

/// What its recorded decisions are called (suite/drive/recording.hpp).
inline constexpr std::string_view recorded_policy = "hetermoe/controller";

class Controller {
  public:
    using Event = hetermoe::Event;
    using Action = hetermoe::Action;
    using Actions = std::vector<Action>;

    explicit Controller(ControllerSettings settings) : settings_(std::move(settings)) {}

    void on(const Event& event, double now_s, Actions& actions);

    /// Nobody trains, and only newcomers could change that; the first workers are on their way
    /// until one of them dies or wants to go.
    bool short_of_workers() const {
        return phase_ == Phase::waiting && (begun_ || counts_.deaths > 0 || !leaving_.empty());
    }
    const std::vector<CommittedStep>& lineage() const { return lineage_; }

    struct Counts {
        long deaths = 0, joins = 0, leaves = 0;
        long discarded = 0;    ///< attempts at a step that were thrown away
        long retries = 0;      ///< of steps that failed on live workers
        long evictions = 0;    ///< workers ended because nobody could reach them
        long plans = 0;        ///< put into force after the first
        long moves = 0;        ///< states moved between workers
        long fallbacks = 0;    ///< returns to a checkpoint
        long rolled_back = 0;  ///< committed steps undone by those
    };
    const Counts& counts() const { return counts_; }

  private:
    enum class Phase { waiting, forming, stepping, awaiting_death, over };

    void handle(const Joined&, Actions&);
    void handle(const Died&, Actions&);
    void handle(const LeaveRequested&, Actions&);
    void handle(const Ready&, Actions&);
    void handle(const StepDone&, Actions&);
    void handle(const StepFailed&, Actions&);
    void handle(const GroupBroken&, Actions&);
    void handle(const CheckpointWritten&, Actions&);
    void handle(const RestoreFailed&, Actions&);
    void handle(const Profiled&, Actions&);
    void handle(const Slow&, Actions&);
    void handle(const Idle&, Actions&);
    void reconsider(const std::string& why, Actions&);

    bool is_new(Worker worker) const { return kinds_.at(worker); }
    std::vector<Worker> usable(bool of_new_kind) const;
    void deal_kinds();
    std::optional<Layout> best_layout() const;
    bool in_force(Epoch epoch) const {
        return epoch == form_.epoch && (phase_ == Phase::forming || phase_ == Phase::stepping);
    }
    void abort(Worker dead, Actions& actions);
    void evict(Worker worker, const std::string& why, Actions& actions);
    void try_again(const std::string& why, Actions& actions);
    void form(const std::string& why, Actions& actions);
    std::vector<Move> moves_to(const Layout& layout) const;
    bool somebody_holds_everything() const;
    void fall_back(Reconfigure& form);
    void next_step(Actions& actions);

    ControllerSettings settings_;             ///< its times are those profiled last …
    double new_factor_ = 1, old_factor_ = 1;  ///< … and really so many times as long
    Phase phase_ = Phase::waiting;
    bool begun_ = false;
    std::map<Worker, bool> kinds_;  ///< of the live ones; true: new
    std::set<Worker> leaving_;
    std::string changed_;  ///< why there has to be a new plan before the next step; empty: no need
    Reconfigure form_;     ///< in force
    std::set<Worker> ready_, done_;
    Worker evicted_ = -1;  ///< whose death is awaited
    std::map<Worker, int> damaged_messages_;
    int retries_ = 0;
    Step step_ = 0;  ///< the next to commit
    /// Who holds which block as it is before step_, among the living.
    std::map<BlockKey, std::set<Worker>> holders_;
    std::map<Step, std::set<Worker>> checkpoints_;  ///< ordered; writers that have not reported
    std::vector<CommittedStep> lineage_;
    Counts counts_;
};

}  // namespace assay::hetermoe
