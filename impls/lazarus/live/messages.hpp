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
struct StepReport {  ///< the worker has its sums; pacing adds fields of its own
    Epoch epoch;
    Step step;
    double loss;  ///< nats per token, of its own rows
    std::vector<Loads> loads;
    bool operator==(const StepReport&) const = default;
};
struct StepFailure {
    Epoch epoch;
    Step step;
    std::string why;
    bool operator==(const StepFailure&) const = default;
};
struct GroupReport {  ///< group built, transfers done; seconds of the machine's clock
    Epoch epoch;
    double group_s, transfer_s;
    std::int64_t blocks, bytes;  ///< received
    bool operator==(const GroupReport&) const = default;
};
struct CheckpointReport {
    Step step;
    bool operator==(const CheckpointReport&) const = default;
};
struct CheckpointFailure {  ///< it could not be written
    Step step;
    std::string why;
    bool operator==(const CheckpointFailure&) const = default;
};
struct RestoreFailure {  ///< it could not be read
    Epoch epoch;
    Step step;
    std::string why;
    bool operator==(const RestoreFailure&) const = default;
};
struct Digests {  ///< of the state held, once training is over
    std::map<BlockKey, std::uint64_t> digests;
    bool operator==(const Digests&) const = default;
};
using WorkerMessage = std::variant<StepReport, StepFailure, GroupReport, CheckpointReport,
                                   CheckpointFailure, RestoreFailure, Digests>;
nlohmann::json to_message(const WorkerMessage& message);
WorkerMessage worker_message_from(const nlohmann::json& message);

// ---- configuration of a worker -----------------------------------------------------------------
nlohmann::json to_json(const TrainingConfig& config);
TrainingConfig training_config_from(const nlohmann::json& object);

}  // namespace assay::lazarus
