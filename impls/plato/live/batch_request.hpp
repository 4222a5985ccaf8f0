// A part of an answer as a request to the engine.
#pragma once

#include "impls/decode/requests/request_state.hpp"
#include "impls/plato/live/answering.hpp"

namespace assay::plato {

/// But for what it takes from other sequences.
inline decode::BatchRequest batch_request(const PartRequest& part) {
    decode::BatchRequest request;
    request.prompt = part.prompt;
    request.max_tokens = static_cast<int>(part.tokens);
    request.forced_ids = part.forced;
    return request;
}

}  // namespace assay::plato
