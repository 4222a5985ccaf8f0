// Holds the operations of a worker's steps to the durations of the modelled cluster.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>

#include "impls/lazarus/cost/step_timeline.hpp"
#include "impls/lazarus/policy/controller/protocol.hpp"
#include "impls/lazarus/training/step_hooks.hpp"
#include "suite/drive/processes/paced_time.hpp"

namespace assay::lazarus {

/// The last operation, gradient sums and optimizer, ends with the step's commit, which the session
/// holds.
class StepPacing {
  public:
    explicit StepPacing(const Modelling& modelling)
        : modelling_(modelling), costs_(cluster_profile(modelling.cluster)) {}

    /// `go`: the session's message (drive::PacedStep::begin).
    void begin(const nlohmann::json& go, const Reconfigure& plan, int rank);
    void counted(int layer, std::span<const Tokens> tokens) { timeline_->counted(layer, tokens); }
    void done(StepHooks::Phase phase, int layer);
    /// `link_held_s`: real seconds that a faulty link held the step up.
    void report(nlohmann::json& step_done, double link_held_s) const {
        step_.report(step_done, timeline_->total(), link_held_s);
    }

  private:
    Modelling modelling_;
    CostModel costs_;
    int rank_ = 0;
    std::optional<StepTimeline> timeline_;
    drive::PacedStep step_;
};

}  // namespace assay::lazarus
