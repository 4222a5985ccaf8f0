// What controller and workers say to each other: JSON objects with a "type", made of the types of
// the protocol (protocol_json.hpp) and of what only real workers have to tell. Reading throws
// drive::MessageError. Fields that drivers add on the way are not looked at.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "impls/lazarus/policy/controller/controller.hpp"
#include "impls/lazarus/training/trainer.hpp"
#include "suite/drive/describe.hpp"

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

// ---- what workers say --------------------------------------------------------------------------
struct StepReport {  ///< StepDone as it travels; pacing adds fields of its own
    Worker worker;
    Epoch epoch;
    Step step;
    double loss;  ///< nats per token, of its own rows
    std::vector<Loads> loads;
    bool operator==(const StepReport&) const = default;
};
struct GroupReport {  ///< Ready as it travels; seconds of the machine's clock
    Worker worker;
    Epoch epoch;
    double group_s, transfer_s;
    std::int64_t blocks, bytes;  ///< received
    bool operator==(const GroupReport&) const = default;
};
struct CheckpointFailed {  ///< it could not be written
    Worker worker;
    Step step;
    std::string why;
    bool operator==(const CheckpointFailed&) const = default;
};
struct Digests {  ///< of the state held, once training is over
    std::map<BlockKey, std::uint64_t> digests;
    bool operator==(const Digests&) const = default;
};
ASSAY_MESSAGE(StepReport, "step_done", worker, epoch, step, loss, loads)
ASSAY_MESSAGE(GroupReport, "ready", worker, epoch, group_s, transfer_s, blocks, bytes)
ASSAY_MESSAGE(CheckpointFailed, "checkpoint_failed", worker, step, why)
ASSAY_MESSAGE(Digests, "digests", digests)
using WorkerMessage = std::variant<StepReport, StepFailed, GroupReport, CheckpointWritten,
                                   CheckpointFailed, RestoreFailed, Digests>;
nlohmann::json to_message(const WorkerMessage& message);
WorkerMessage worker_message_from(const nlohmann::json& message);

// ---- configuration of a worker -----------------------------------------------------------------
nlohmann::json to_json(const TrainingConfig& config);
TrainingConfig training_config_from(const nlohmann::json& object);

}  // namespace assay::lazarus
