#include "impls/lte/rivals/pruning.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "impls/lte/rivals/rival.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

template <class Number>
bool read(std::string_view text, Number& value) {
    const auto* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc{} && result.ptr == end;
}

// Of each row of the last dimension, the `count` lowest.
at::Tensor lowest(const at::Tensor& scores, std::int64_t count) {
    const auto order = at::argsort(scores, /*stable=*/true, /*dim=*/-1, /*descending=*/false);
    auto removed = at::zeros(scores.sizes(), scores.options().dtype(at::kBool));
    return removed.scatter_(-1, order.narrow(-1, 0, count), true);
}

void prune(const at::Tensor& weight, const at::Tensor& scores, const PruningPattern& pattern) {
    const at::NoGradGuard no_grad;
    weight.detach().masked_fill_(weights_to_remove(scores, pattern), 0);
}

double zero_share(const nn::Decoder& decoder) {
    double zero = 0, all = 0;
    for (int layer = 0; layer < decoder.config().layers; ++layer) {
        const auto weights = decoder.ffn(layer);
        for (const auto& matrix : {weights.gate, weights.up, weights.down}) {
            if (!matrix.defined()) continue;
            zero += static_cast<double>((matrix == 0).sum().item<std::int64_t>());
            all += static_cast<double>(matrix.numel());
        }
    }
    return zero / all;
}

at::Tensor feature_norms(const at::Tensor& inputs) {
    return inputs.to(at::kFloat).norm(2, /*dim=*/0);
}

// Prunes each layer when the calibration text reaches it, all of it in one pass: the norms of both
// of the layer's inputs are those of the layer before it is pruned, as in Wanda's code, and the
// next layer sees what the pruned one makes.
class PruningPass : public nn::FeedForward {
  public:
    PruningPass(const nn::Decoder& decoder, const PruningPattern& pattern)
        : decoder_(decoder), pattern_(pattern) {}

    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& whole) override {
        const auto inputs = feature_norms(x), hidden = feature_norms(nn::ffn_hidden(whole, x));
        const auto weights = decoder_.ffn(layer);
        for (const auto& matrix : {weights.gate, weights.up})
            if (matrix.defined()) prune(matrix, wanda_score(matrix, inputs), pattern_);
        prune(weights.down, wanda_score(weights.down, hidden), pattern_);
        return nn::ffn_output(weights, nn::ffn_hidden(weights, x));
    }

  private:
    const nn::Decoder& decoder_;
    PruningPattern pattern_;
};

}  // namespace

PruningPattern parse_pattern(std::string_view text) {
    PruningPattern pattern;
    const auto colon = text.find(':');
    if (colon != std::string_view::npos) {
        if (read(text.substr(0, colon), pattern.n) && read(text.substr(colon + 1), pattern.m) &&
            pattern.n >= 0 && pattern.n < pattern.m) {
            pattern.share = static_cast<double>(pattern.n) / pattern.m;
            return pattern;
        }
    } else if (read(text, pattern.share) && pattern.share >= 0 && pattern.share < 1) {
        return pattern;
    }
    throw UserError(fmt::format(
        "pruning pattern \"{}\": give a share of 0 to below 1 (0.5), or how many of how many "
        "neighbouring weights to remove (2:4, 4:8)",
        text));
}

at::Tensor weights_to_remove(const at::Tensor& scores, const PruningPattern& pattern) {
    const auto columns = scores.size(1);
    if (pattern.m == 0)
        return lowest(scores, std::llround(pattern.share * static_cast<double>(columns)));
    if (columns % pattern.m != 0)
        throw UserError(
            fmt::format("rows of {} weights do not divide into groups of {}; choose "
                        "another pattern",
                        columns, pattern.m));
    return lowest(scores.reshape({scores.size(0), -1, pattern.m}), pattern.n)
        .reshape(scores.sizes());
}

at::Tensor wanda_score(const at::Tensor& weight, const at::Tensor& norms) {
    return weight.detach().abs() * norms.unsqueeze(0);
}

double prune_by_magnitude(nn::Decoder& decoder, const PruningPattern& pattern) {
    for (int layer = 0; layer < decoder.config().layers; ++layer) {
        const auto weights = decoder.ffn(layer);
        for (const auto& matrix : {weights.gate, weights.up, weights.down})
            if (matrix.defined()) prune(matrix, matrix.detach().abs(), pattern);
    }
    return zero_share(decoder);
}

double prune_by_wanda(nn::Decoder& decoder, const PruningPattern& pattern,
                      const nn::TokenData& data, int sequences) {
    PruningPass pass(decoder, pattern);
    pass_training_text(decoder, pass, data, sequences);
    return zero_share(decoder);
}

}  // namespace assay::lte
