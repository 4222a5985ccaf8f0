// A request between two engines: all that is known of it, as bytes that tell when they are damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impls/decode/sampling.hpp"

namespace assay::decode {

/// What a request asks for.
struct BatchRequest {
    std::vector<int> prompt;  ///< at least one
    int max_tokens = 16;
    Sampling sampling;
    std::vector<int> stop_ids;  ///< each ends the text as its last id
    /// These are its tokens, whatever the model says; only their probabilities are found. Then
    /// max_tokens is their number and stop_ids are ignored.
    std::vector<int> forced_ids;
    std::vector<std::uint64_t> allowed;     ///< a bit per id of the vocabulary; empty: all
    int priority = 0;                       ///< higher first
    bool prompt_log_probabilities = false;  ///< then nothing of it is taken from the cache
};

struct RequestState {
    std::string model;  ///< whose tokens these are; other engines refuse it
    BatchRequest request;
    std::vector<int> ids;  ///< that were made so far
    std::vector<double> log_probabilities;
    std::vector<int> versions;                     ///< of the weights that made each
    std::vector<double> prompt_log_probabilities;  ///< of the prompt's tokens from the second on;
                                                   ///< those that are known so far
    int reused = 0, preemptions = 0;
    bool admitted = false;  ///< at least once

    // Optionally the keys and values, for an engine with the same weights.
    int kv_version = 0;
    int kv_positions = 0;  ///< 0: none
    std::vector<std::byte> kv;
};

std::vector<std::byte> to_bytes(const RequestState& state);
/// Throws UserError: damaged, or of another version of the format.
RequestState request_state_from(std::span<const std::byte> bytes);

}  // namespace assay::decode
