#include "impls/nn/training/evaluation.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <numbers>

#include "suite/experiment/error.hpp"

namespace assay::nn {

double Evaluation::perplexity() const { return std::exp(nll_nats_per_token); }

Evaluation evaluate(const Decoder& decoder, FeedForward& ffn, const TokenData& data, int windows,
                    int sequences, at::ScalarType compute) {
    at::NoGradGuard no_grad;
    const auto device = decoder.blocks().front()->values().device();
    Evaluation result;
    double sum = 0;
    for (const auto& tokens : data.held_out_batches(sequences, windows)) {
        sum += decoder.loss(tokens.to(device), ffn, compute).item<double>();
        result.windows += tokens.size(0);
        result.tokens += tokens.size(0) * (tokens.size(1) - 1);
    }
    if (result.windows == 0) {
        throw UserError("there is no held-out text to evaluate on; give a held-out share above 0");
    }
    result.bytes = data.held_out_bytes(windows);
    result.nll_nats_per_token = sum / static_cast<double>(result.tokens);
    result.bits_per_byte = sum / std::numbers::ln2 / static_cast<double>(result.bytes);
    return result;
}

}  // namespace assay::nn
