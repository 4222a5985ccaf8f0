// The commands of HeterMoE.
//   assay plan hetermoe: groups, micro-batches and offload for the user's own GPUs and times
//   assay calibrate hetermoe: those times, measured here
//   assay campaign hetermoe: the training's controller under seeded schedules of faults
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "impls/hetermoe/policy/plan.hpp"
#include "suite/drive/campaign/campaign.hpp"
#include "suite/experiment/system.hpp"

namespace assay::hetermoe {

std::unique_ptr<Command> make_plan_command();
std::unique_ptr<Command> make_profile_command();

drive::Campaign campaign_modes();

/// What is planned, and what came of it; the timeline of the best option where it is asked for.
struct PlanReport {
    TrainingProfile profile;
    PlanSettings settings;
    Plan plan;
    std::optional<Timeline> timeline;
};

/// One line:
/// {"options": [{"new": M, "old": N, "groups", "micro_batches", "offload": [per layer],
/// "makespan_s", "sync_s", "per_s", "new_busy", "old_busy"}], "infeasible": [[M, N]], "best":
/// index, "home": [[GPU of each expert] per layer] of the best option, "rivals": {"ep", "ep_ideal"}
/// | null, "warnings": [names]}, and with a timeline "timeline": [{"task", "layer", "micro_batch",
/// "start_s", "end_s"}] by start.
std::string json_text(const PlanReport& report);

/// For people, in so many columns: the best option, whether splitting pays, what to watch, the
/// fastest options.
std::string page_text(const PlanReport& report, std::size_t columns);

}  // namespace assay::hetermoe
