#include "impls/nn/training/row_batch.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace assay::nn {

RowBatch batch_of(std::span<const ScoredRow* const> rows) {
    std::size_t longest = 0;
    for (const ScoredRow* row : rows) {
        if (row->tokens.size() < 2) throw std::invalid_argument("a row of fewer than two tokens");
        longest = std::max(longest, row->tokens.size());
    }
    if (longest == 0) throw std::invalid_argument("a batch of no rows");
    const auto count = static_cast<std::int64_t>(rows.size());
    const auto length = static_cast<std::int64_t>(longest) - 1;
    const auto options = at::TensorOptions().dtype(at::kLong);
    // Behind a row's end nothing is scored, and causal attention does not look there.
    RowBatch batch{
        at::zeros({count, length + 1}, options), at::full({count, length}, -1, options), {}};
    auto* tokens = batch.tokens.mutable_data_ptr<std::int64_t>();
    auto* targets = batch.targets.mutable_data_ptr<std::int64_t>();
    for (const ScoredRow* row : rows) {
        for (std::size_t i = 0; i < row->tokens.size(); ++i) {
            tokens[i] = row->tokens[i];
            if (i > 0 && row->scored[i]) targets[i - 1] = row->tokens[i];
        }
        tokens += length + 1;
        targets += length;
        batch.scored_tokens.push_back(static_cast<std::int64_t>(row->scored_tokens()));
    }
    return batch;
}

RowBatch batch_of(std::span<const ScoredRow> rows) {
    std::vector<const ScoredRow*> places;
    for (const ScoredRow& row : rows) places.push_back(&row);
    return batch_of(places);
}

double RowEvaluation::perplexity() const { return std::exp(nll_nats_per_token); }

RowEvaluation evaluate_rows(const Decoder& decoder, Maps& maps, std::span<const ScoredRow> rows,
                            at::ScalarType compute, std::size_t at_once) {
    at::NoGradGuard no_grad;
    const auto device = decoder.blocks().front()->values().device();
    RowEvaluation result;
    double sum = 0;
    std::int64_t exact = 0;
    for (std::size_t first = 0; first < rows.size(); first += at_once) {
        const auto part = rows.subspan(first, std::min(at_once, rows.size() - first));
        const RowBatch batch = batch_of(part);
        const auto targets = batch.targets.to(device);
        const auto logits =
            decoder.logits(batch.tokens.narrow(1, 0, targets.size(1)).to(device), maps, compute);
        sum += at::cross_entropy_loss(logits.view({-1, logits.size(-1)}), targets.view({-1}), {},
                                      at::Reduction::Sum, /*ignore_index=*/-1)
                   .item<double>();
        const auto right = (logits.argmax(-1) == targets).logical_or(targets < 0);
        exact += right.all(1).sum().item<std::int64_t>();
        for (const auto tokens : batch.scored_tokens) result.tokens += tokens;
    }
    result.rows = static_cast<std::int64_t>(rows.size());
    result.nll_nats_per_token = sum / static_cast<double>(result.tokens);
    result.exact_rows = static_cast<double>(exact) / static_cast<double>(result.rows);
    return result;
}

}  // namespace assay::nn
