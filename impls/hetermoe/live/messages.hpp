// What only real workers have to tell, and how they are configured. All else that controller and
// workers say are the controller's own events and actions (policy/controller/protocol.hpp); on the
// way some carry a field more:
//   step_done   loss: mean nats per token; computed: ComputedTimes
//   ready       blocks, bytes: states received
//   abort       groups: of the layout; urgent
// To a worker also {"type": "finish"}, which asks for its Digests, and "dismiss".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "impls/hetermoe/policy/controller/protocol.hpp"
#include "impls/hetermoe/training/trainer.hpp"
#include "impls/nn/moe/described.hpp"
#include "suite/drive/messages.hpp"

namespace assay::hetermoe {

ASSAY_FIELDS(TrainingSettings, model, adam, sequences, seed, corpus, loads)

/// Of the state held, once training is over.
struct Digests {
    std::map<BlockKey, std::uint64_t> digests;
};
ASSAY_MESSAGE(Digests, "digests", digests)

/// It could not be written: a loss of safety, not of training.
struct CheckpointFailed {
    Step step = 0;
    std::string why;
};
ASSAY_MESSAGE(CheckpointFailed, "checkpoint_failed", step, why)

}  // namespace assay::hetermoe
