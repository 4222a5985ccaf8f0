#include "impls/lte/rivals/pruning.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
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

// Sums the squares of what reaches both of a layer's inputs, pass by pass.
class LayerInputs : public nn::FeedForward {
  public:
    explicit LayerInputs(int layer) : layer_(layer) {}

    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override {
        const auto h = nn::ffn_hidden(weights, x);
        if (layer == layer_) {
            add(inputs_, x);
            add(hidden_, h);
        }
        return nn::ffn_output(weights, h);
    }
    at::Tensor input_norms() const { return inputs_.sqrt().to(at::kFloat); }
    at::Tensor hidden_norms() const { return hidden_.sqrt().to(at::kFloat); }

  private:
    static void add(at::Tensor& sum, const at::Tensor& values) {
        const auto squares = values.to(at::kDouble).square().sum(0);
        sum = sum.defined() ? sum + squares : squares;
    }
    int layer_;
    at::Tensor inputs_, hidden_;
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
    // Norms of both of a layer's inputs are those before it is pruned, as in Wanda's code, and the
    // next layer sees what the pruned ones make. Few sequences at a time: memory does not grow.
    constexpr int together = 8;
    for (int layer = 0; layer < decoder.config().layers; ++layer) {
        LayerInputs inputs(layer);
        for (int done = 0; done < sequences; done += together)
            pass_training_text(decoder, inputs, data, std::min(together, sequences - done),
                               calibration_seed, done / together);
        const auto weights = decoder.ffn(layer);
        for (const auto& matrix : {weights.gate, weights.up})
            if (matrix.defined()) prune(matrix, wanda_score(matrix, inputs.input_norms()), pattern);
        prune(weights.down, wanda_score(weights.down, inputs.hidden_norms()), pattern);
    }
    return zero_share(decoder);
}

}  // namespace assay::lte
