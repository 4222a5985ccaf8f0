// How likely a text is to a model.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "impls/decode/batch_engine.hpp"

namespace assay::decode {

/// Blocks of the cache that a window of so many tokens needs.
int blocks_for_window(int tokens, int context);

/// Nats of all tokens of a window but the first, each given those before it; nothing is taken from
/// the cache. `progress` hears how many are done; may be empty. Throws UserError: fewer than two
/// tokens, ids outside the vocabulary, a window beyond the context or the cache, logits without a
/// softmax.
double nats_of_window(BatchEngine& engine, std::span<const int> window,
                      const std::function<void(std::int64_t)>& progress = {});

}  // namespace assay::decode
