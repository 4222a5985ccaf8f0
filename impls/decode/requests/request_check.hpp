// Whether an engine can take a request, or the state of one, told by what is known of the engine.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "impls/decode/requests/request_state.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {

struct EngineLimits {
    std::string model;
    int vocabulary = 0, context = 0, blocks = 0;
    std::size_t block_bytes = 0;
    bool can_link = false;   ///< keys and values can stand elsewhere
    bool has_texts = false;  ///< tokens' bytes are known, so that texts can stop a request
    int max_requests = std::numeric_limits<int>::max();  ///< that have not ended, at once
    bool operator==(const EngineLimits&) const = default;
};

/// Tokens that it makes at most: forced ids say how many there are.
std::size_t most_tokens(const BatchRequest& request);

/// What an engine makes of it: forced ids say how many tokens there are, and none stops.
BatchRequest as_served(const BatchRequest& request);

/// Throws UserError: ids that the model does not know, a prompt beyond the context, a cache too
/// small for the request, numbers out of range, stops where tokens' bytes are not known.
void check_request(const BatchRequest& request, const EngineLimits& limits);

/// The same, and for a state of another model or that contradicts itself.
void check_state(const RequestState& state, const EngineLimits& limits);

/// Thrown where there are as many as EngineLimits::max_requests.
UserError full(std::size_t requests);

}  // namespace assay::decode
