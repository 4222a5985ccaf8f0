// The sequences of a request and the hash of what they became, by whatever decodes them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "impls/foundry/toy/decode_step.hpp"

namespace assay::foundry {

/// Decodes one step: the tokens sampled after these rows.
using DecodeRows =
    std::function<std::vector<int>(std::span<const toy::Row> rows, const toy::RandomState& random)>;

/// FNV-1a over all tokens of all steps.
std::uint64_t decode_request(const toy::DecodeSettings& settings, int request, int batch, int steps,
                             const DecodeRows& decode);

}  // namespace assay::foundry
