// What only real workers have to tell, and how they are configured. All else that controller and
// workers say are the controller's own events and actions (policy/controller/protocol.hpp); on the
// way some carry a field more:
//   step_done   loss: mean nats per token; computed: ComputedTimes
//   ready       blocks, bytes: states received
//   abort       groups: of the layout; urgent
// To a worker also {"type": "finish"}, which asks for its Digests, and "dismiss".
#pragma once

#include "impls/hetermoe/policy/controller/protocol.hpp"
#include "impls/hetermoe/training/trainer.hpp"
#include "impls/nn/moe/described.hpp"
#include "suite/drive/messages.hpp"

namespace assay::hetermoe {

ASSAY_FIELDS(TrainingSettings, model, adam, sequences, seed, corpus, loads)

using elastic::CheckpointFailed;
using elastic::Digests;

}  // namespace assay::hetermoe
