// Rows with masked targets as tensors, and what a decoder makes of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/nn/text/scored_rows.hpp"
#include "suite/drive/describe.hpp"

namespace assay::nn {

/// Rows padded behind to the longest of them; padding is never scored.
struct RowBatch {
    at::Tensor tokens;                        ///< int64 [rows, length + 1]
    at::Tensor targets;                       ///< int64 [rows, length]; −1: not scored
    std::vector<std::int64_t> scored_tokens;  ///< of each row
};

/// Of at least one row, each of at least two tokens.
RowBatch batch_of(std::span<const ScoredRow* const> rows);
RowBatch batch_of(std::span<const ScoredRow> rows);

/// How well a decoder knows the answers of rows.
struct RowEvaluation {
    std::int64_t rows = 0, tokens = 0;  ///< tokens: scored
    double nll_nats_per_token = 0;
    /// Share of rows whose every scored token is the likeliest where all before it are given: the
    /// rows that greedy decoding would answer word for word.
    double exact_rows = 0;
    double perplexity() const;  ///< exp(nll)
};
ASSAY_ROW(RowEvaluation, rows, tokens, nll_nats_per_token, exact_rows)

/// Without gradients, `at_once` rows at a time. At least one row.
RowEvaluation evaluate_rows(const Decoder&, Maps&, std::span<const ScoredRow> rows,
                            at::ScalarType compute = at::kFloat, std::size_t at_once = 64);

}  // namespace assay::nn
