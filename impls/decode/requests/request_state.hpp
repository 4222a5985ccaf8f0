// A request between two engines: all that is known of it, as bytes that tell when they are damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impls/decode/links/links.hpp"
#include "impls/decode/sampling.hpp"

namespace assay::decode {

using RequestId = std::int64_t;  ///< of an engine; never used again

/// What a request asks for.
struct BatchRequest {
    std::vector<int> prompt;  ///< at least one
    int max_tokens = 16;
    Sampling sampling;
    std::vector<int> stop_ids;  ///< each ends the text as its last id
    /// Each ends it with the token that completes it, bytes of new tokens alone counted. They need
    /// an engine that knows tokens' bytes.
    std::vector<std::string> stops;
    /// These are its tokens, whatever the model says; only their probabilities are found. Then
    /// max_tokens is their number, stop_ids and stops are ignored.
    std::vector<int> forced_ids;
    std::vector<std::uint64_t> allowed;     ///< a bit per id of the vocabulary; empty: all
    int priority = 0;                       ///< higher first
    bool prompt_log_probabilities = false;  ///< then nothing of it is taken from the cache
    std::optional<Links> links;

    /// Prompt tokens that it may be given from the cache.
    int most_reused() const {
        if (prompt_log_probabilities) return 0;
        return links ? links->most_reused : std::numeric_limits<int>::max();
    }
    bool binds() const { return links && links->bind(); }  ///< to its engine
};

struct RequestState {
    std::string model;  ///< whose tokens these are; other engines refuse it
    BatchRequest request;
    std::vector<int> ids;                                             ///< that were made so far
    std::vector<float> log_probabilities, sampled_log_probabilities;  ///< as MadeToken has them
    std::vector<int> versions;                     ///< of the weights that made each
    std::vector<double> prompt_log_probabilities;  ///< of the prompt's tokens from the second on;
                                                   ///< those that are known so far
    int reused = 0, preemptions = 0;
    bool admitted = false;  ///< at least once

    // Optionally the keys and values, for an engine that computes the same.
    std::string kv_identity;  ///< BackEnd::identity() of that which computed them
    int kv_positions = 0;     ///< 0: none
    std::vector<std::byte> kv;

    void append(int id, int version, float log_probability, float sampled_log_probability);
    void keep_first(std::size_t tokens);  ///< of those that were made
    void forget_cache();                  ///< the keys and values
};

std::vector<std::byte> to_bytes(const RequestState& state);
/// Throws UserError: damaged, or of another version of the format.
RequestState request_state_from(std::span<const std::byte> bytes);

}  // namespace assay::decode
