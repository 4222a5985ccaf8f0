// Whether an engine can take a request, or the state of one, told by what is known of the engine.
#pragma once

#include <cstddef>
#include <string>

#include "impls/decode/requests/request_state.hpp"

namespace assay::decode {

struct EngineLimits {
    std::string model;
    int vocabulary = 0, context = 0, blocks = 0;
    std::size_t block_bytes = 0;
    bool can_link = false;  ///< keys and values can stand elsewhere
    bool operator==(const EngineLimits&) const = default;
};

/// What an engine makes of it: forced ids say how many tokens there are, and none stops.
BatchRequest as_served(const BatchRequest& request);

/// Throws UserError: ids that the model does not know, a prompt beyond the context, a cache too
/// small for the request, numbers out of range.
void check_request(const BatchRequest& request, const EngineLimits& limits);

/// The same, and for a state of another model or that contradicts itself.
void check_state(const RequestState& state, const EngineLimits& limits);

}  // namespace assay::decode
