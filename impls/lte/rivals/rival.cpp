#include "impls/lte/rivals/rival.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "impls/lte/method/routed_feed_forward.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {

at::Tensor SelectingFeedForward::run(int layer, const at::Tensor& x,
                                     const nn::FfnWeights& weights) {
    const auto hidden = hidden_(weights, x);
    const auto choice = choose(layer, x, hidden, weights);
    active_[static_cast<std::size_t>(layer)] = choice.used;
    return nn::ffn_output(
        weights, scaled_by_expert(hidden, choice.weight.defined() ? choice.weight : choice.used));
}

int units_kept(std::int64_t units, double sparsity) {
    if (!(sparsity >= 0 && sparsity < 1))
        throw UserError(
            fmt::format("a sparsity of {} is not possible; give 0 to below 1", sparsity));
    const auto kept = std::floor((1 - sparsity) * static_cast<double>(units) + 0.5);
    return static_cast<int>(std::max(1.0, kept));
}

at::Tensor strongest(const at::Tensor& scores, int count) {
    const auto ranked = scores.detach();
    auto used = at::zeros(ranked.sizes(), ranked.options().dtype(at::kBool));
    return used.scatter_(1, std::get<1>(ranked.topk(count, 1)), true);
}

void pass_training_text(const nn::Decoder& decoder, nn::FeedForward& ffn, const nn::TokenData& data,
                        int sequences, std::uint64_t seed, std::int64_t part) {
    const at::NoGradGuard no_grad;
    const auto tokens =
        data.batch(seed, part, sequences).to(decoder.blocks().front()->values().device());
    decoder.logits(tokens.narrow(1, 0, tokens.size(1) - 1), ffn);
}

}  // namespace assay::lte
