// One process of a paced training: a rank of its zebra group.
#pragma once

#include "impls/hetermoe/emulated/arrivals.hpp"
#include "impls/hetermoe/emulated/paced_training.hpp"
#include "impls/hetermoe/training/trainer.hpp"
#include "suite/cluster/processes/control_channel.hpp"

namespace assay::hetermoe {

/// What a plan trains, the same in every process, on a text of its own.
TrainingSettings settings_of(const PacedPlan& plan);
const nn::ByteCorpus& paced_text();

/// run_paced().
std::vector<PacedRun> run_paced_processes(std::span<const PacedPlan> plans);

/// config: plan, number (of the plan), rank, port, timeout_s. Told {"type": "compute", "step",
/// "held"}, answered with its runs in real seconds, move_s and the loss; "apply", the step;
/// "finish", answered with its digests; "dismiss". A group that broke under it is said ("broken"),
/// and it stays for the reason to be found.
int paced_worker(cluster::ControlChannel& control, const nlohmann::json& config,
                 Arrivals& arrivals);

}  // namespace assay::hetermoe
