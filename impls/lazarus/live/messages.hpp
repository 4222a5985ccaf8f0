// What controller and workers say to each other: JSON objects with a "type". The one place that
// knows their shape.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "impls/lazarus/policy/controller/controller.hpp"
#include "impls/lazarus/training/trainer.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::lazarus {

// ---- to workers --------------------------------------------------------------------------------
nlohmann::json to_message(const Reconfigure& plan);
nlohmann::json to_message(const Go& go);
nlohmann::json to_message(const Commit& commit);
nlohmann::json to_message(const Abort& abort);  ///< urgent: overtakes what is queued
/// The share of `owner` in a checkpoint.
nlohmann::json to_message(const WriteCheckpoint& checkpoint, Worker owner);
/// Asks a worker to do a fault of kind link, corrupt, nan, torn or disk_full to itself; seconds are
/// real ones. `index`: its number in the plan, for the worker's answer "struck". Faults of the
/// transport are urgent: they take effect at once, the others before the worker's next operation.
nlohmann::json inject_message(const Fault& fault, std::size_t index);
Fault injected_from(const nlohmann::json& message);
Reconfigure reconfigure_from(const nlohmann::json& message);
std::vector<BlockKey> checkpoint_blocks_from(const nlohmann::json& message);

// ---- to the controller -------------------------------------------------------------------------
nlohmann::json step_done(Epoch epoch, Step step, const StepResult& result);
StepDone step_done_from(Worker worker, const nlohmann::json& message);
nlohmann::json digests_message(const std::map<BlockKey, std::uint64_t>& digests);
std::map<BlockKey, std::uint64_t> digests_from(const nlohmann::json& message);

// ---- configuration of a worker -----------------------------------------------------------------
nlohmann::json to_json(const TrainingConfig& config);
TrainingConfig training_config_from(const nlohmann::json& object);

}  // namespace assay::lazarus
