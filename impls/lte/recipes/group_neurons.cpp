#include "impls/lte/recipes/group_neurons.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include "impls/lte/method/grouping.hpp"
#include "impls/lte/method/stages.hpp"

namespace assay::lte {
namespace {

constexpr int calibration_windows = 8;

/// Keeps the hidden activations of each layer: what co-activation is counted on.
class HiddenProbe : public nn::FeedForward {
  public:
    explicit HiddenProbe(int layers) : hidden(static_cast<std::size_t>(layers)) {}
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override {
        const auto h = nn::ffn_hidden(weights, x);
        hidden[static_cast<std::size_t>(layer)].push_back(h.to(at::kFloat));
        return nn::ffn_output(weights, h);
    }
    std::vector<std::vector<at::Tensor>> hidden;
};

Grouping group(Workbench& bench, GroupingKind kind, const HiddenProbe& probe, int layer) {
    const nn::FfnWeights weights = bench.decoder().ffn(layer);
    const std::uint64_t seed = bench.seed() * 1000 + static_cast<std::uint64_t>(layer);
    switch (kind) {
        case GroupingKind::random:
            return random_grouping(static_cast<int>(weights.up.size(0)), expert_size, seed);
        case GroupingKind::coactivation:
            return coactivation_grouping(at::cat(probe.hidden[static_cast<std::size_t>(layer)]),
                                         expert_size, 0.2, seed);
        case GroupingKind::kmeans:
            break;
    }
    KMeansOptions options;
    options.seed = seed;
    const auto& features = weights.gate.defined() ? weights.gate : weights.up;
    return balanced_kmeans(features.detach(), expert_size, options);
}

}  // namespace

void group_neurons(Workbench& bench, GroupingKind kind) {
    const int layers = bench.sizes().model.layers;
    HiddenProbe probe(layers);
    if (kind == GroupingKind::coactivation) {
        const at::NoGradGuard no_grad;
        for (int step = 0; step < calibration_windows; ++step) {
            const auto tokens = bench.data().batch(bench.seed() + 77, step, 1).to(bench.device());
            bench.decoder().logits(tokens.narrow(1, 0, tokens.size(1) - 1), probe,
                                   compute_type(bench.sizes()));
        }
    }
    for (int layer = 0; layer < layers; ++layer) {
        bench.recorder().progress(static_cast<double>(layer) / layers, "grouping neurons");
        permute_neurons(bench.decoder(), layer, group(bench, kind, probe, layer));
    }
}

}  // namespace assay::lte
