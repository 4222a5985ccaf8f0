// What only real workers have to tell, and how they are configured. All else that controller and
// workers say are the controller's own events and actions (policy/controller/protocol_json.hpp); on
// the way some carry a field more:
//   step_done   loss: nats per token, of its own rows; paced, how long it worked (paced_time.hpp)
//   ready       blocks, bytes: states received; transfer_s: real seconds that took
//   go          paced, what the workers pace it by
// Of a WriteCheckpoint each owner gets its share. To a worker also {"type": "finish"}, which asks
// for its Digests, and "dismiss".
#pragma once

#include <vector>

#include "impls/lazarus/policy/controller/protocol_json.hpp"
#include "impls/lazarus/training/trainer.hpp"
#include "impls/nn/moe/described.hpp"

namespace assay::lazarus {

using elastic::CheckpointFailed;
using elastic::Digests;

/// What one worker writes of a checkpoint.
struct CheckpointShare {
    Step step = 0;
    std::vector<BlockKey> blocks;
};
ASSAY_MESSAGE(CheckpointShare, "write_checkpoint", step, blocks)

inline CheckpointShare share_of(const WriteCheckpoint& checkpoint, Worker owner) {
    CheckpointShare share{checkpoint.step, {}};
    if (checkpoint.dense_owner == owner) share.blocks.push_back(dense_key);
    for (std::size_t layer = 0; layer < checkpoint.owners.size(); ++layer)
        for (std::size_t expert = 0; expert < checkpoint.owners[layer].size(); ++expert)
            if (checkpoint.owners[layer][expert] == owner) share.blocks.emplace_back(layer, expert);
    return share;
}

ASSAY_NAMES(BatchRule::Batch, shrink, keep)
ASSAY_NAMES(BatchRule::Rate, keep, root, linear)
ASSAY_FIELDS(BatchRule, batch, rate, full_workers)
ASSAY_FIELDS(TrainingConfig, model, adam, sequences, batch, seed, corpus, group, routing,
             modelled_steps)

}  // namespace assay::lazarus
