#include "impls/lazarus/live/messages.hpp"

#include "impls/lazarus/policy/controller/protocol_json.hpp"
#include "impls/nn/moe/described.hpp"

namespace assay::lazarus {

using nlohmann::json;

ASSAY_NAMES(BatchRule::Batch, shrink, keep)
ASSAY_NAMES(BatchRule::Rate, keep, root, linear)
ASSAY_FIELDS(BatchRule, batch, rate, full_workers)
ASSAY_FIELDS(TrainingConfig, model, adam, sequences, batch, seed, corpus, group, routing,
             modelled_steps)

namespace {

/// What one worker writes of a checkpoint.
struct CheckpointShare {
    Step step;
    std::vector<BlockKey> blocks;
};
ASSAY_MESSAGE(CheckpointShare, "write_checkpoint", step, blocks)

}  // namespace

json to_message(const Reconfigure& plan) { return drive::to_message(plan); }
json to_message(const Go& go) { return drive::to_message(go); }
json to_message(const Commit& commit) { return drive::to_message(commit); }

json to_message(const Abort& abort) {
    json message = drive::to_message(abort);
    message["urgent"] = true;
    return message;
}

Reconfigure reconfigure_from(const json& message) {
    return drive::message_to<Reconfigure>(message);
}

json to_message(const WriteCheckpoint& checkpoint, Worker owner) {
    CheckpointShare share{checkpoint.step, {}};
    if (checkpoint.dense_owner == owner) share.blocks.push_back(dense_key);
    for (std::size_t layer = 0; layer < checkpoint.owners.size(); ++layer)
        for (std::size_t expert = 0; expert < checkpoint.owners[layer].size(); ++expert)
            if (checkpoint.owners[layer][expert] == owner) share.blocks.emplace_back(layer, expert);
    return drive::to_message(share);
}

std::vector<BlockKey> checkpoint_blocks_from(const json& message) {
    return drive::message_to<CheckpointShare>(message).blocks;
}

json to_message(const WorkerMessage& message) { return drive::to_message(message); }

WorkerMessage worker_message_from(const json& message) {
    return drive::message_to<WorkerMessage>(message);
}

json to_json(const TrainingConfig& config) { return drive::to_json(config); }

TrainingConfig training_config_from(const json& object) {
    return drive::from_json<TrainingConfig>(object);
}

}  // namespace assay::lazarus
