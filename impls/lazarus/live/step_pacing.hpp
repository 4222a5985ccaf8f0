// Holds the operations of one worker's steps to the durations of the modelled cluster. The last
// one, gradient sums and optimizer, ends with the step's commit, which the session holds.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "impls/lazarus/cost/step_timeline.hpp"
#include "impls/lazarus/live/step_hooks.hpp"
#include "impls/lazarus/policy/protocol.hpp"
#include "suite/cluster/pacer.hpp"

namespace assay::lazarus {

class StepPacing {
  public:
    explicit StepPacing(const Modelling& modelling)
        : modelling_(modelling), costs_(cluster_profile(modelling.cluster)) {}

    /// `go`: the session's message, with "start_s" (monotonic clock), "speed" and "slowdowns".
    void begin(const nlohmann::json& go, const Reconfigure& plan, int rank);
    void counted(int layer, std::span<const Tokens> tokens) { timeline_->counted(layer, tokens); }
    void done(StepHooks::Phase phase, int layer);

    /// "modelled_s" (scenario seconds of the step), "work_s" (real seconds not spent waiting for a
    /// modelled device, nor held back by a faulty link: `link_held_s`).
    void report(nlohmann::json& step_done, double link_held_s) const;

  private:
    void hold_until(double offset_s);

    Modelling modelling_;
    CostModel costs_;
    int rank_ = 0;
    double begun_s_ = 0, held_s_ = 0;
    std::optional<StepTimeline> timeline_;
    std::optional<cluster::Pacer> pacer_;
};

}  // namespace assay::lazarus
