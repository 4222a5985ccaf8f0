// A part of an answer as a request to the engine.
#pragma once

#include "impls/decode/requests/request_state.hpp"
#include "impls/plato/live/answering.hpp"

namespace assay::plato {

/// kept(node): what its keys and values are kept under.
template <class Kept>
decode::BatchRequest batch_request(const PartRequest& part, const Kept& kept) {
    decode::BatchRequest request;
    request.prompt = part.prompt;
    request.max_tokens = static_cast<int>(part.tokens);
    request.forced_ids = part.forced;
    decode::Links& links = request.links.emplace();
    links.most_reused = part.most_reused;
    links.keep = part.keep;
    links.rotations = part.rotations;
    for (const PartRequest::Link& link : part.links)
        links.linked.push_back(
            {.kept = kept(link.node), .first = link.first, .count = link.count, .at = link.at});
    return request;
}

}  // namespace assay::plato
