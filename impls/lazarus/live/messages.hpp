// What controller and workers say to each other: JSON objects with a "type", made of the types of
// the protocol (protocol_json.hpp) and of what only real workers have to tell. Reading throws
// drive::MessageError. Fields that drivers add on the way are not looked at.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "impls/lazarus/policy/controller/controller.hpp"
#include "impls/lazarus/training/trainer.hpp"

namespace assay::lazarus {

// ---- to workers --------------------------------------------------------------------------------
nlohmann::json to_message(const Reconfigure& plan);
nlohmann::json to_message(const Go& go);
nlohmann::json to_message(const Commit& commit);
nlohmann::json to_message(const Abort& abort);  ///< urgent: overtakes what is queued
/// The share of `owner` in a checkpoint.
nlohmann::json to_message(const WriteCheckpoint& checkpoint, Worker owner);
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
