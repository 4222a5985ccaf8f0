// Held-out quality and counted sparsity of a sparse model.
#include <numeric>
#include <utility>

#include "impls/lte/recipes/sparse_model.hpp"

namespace assay::lte {
namespace {

/// Passes everything on, and counts what each layer used.
class Counted : public nn::FeedForward {
  public:
    Counted(const SparseModel& model, SparsityStatistics& statistics)
        : model_(model), statistics_(statistics) {}

    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override {
        auto y = model_.ffn->run(layer, x, weights);
        statistics_.add(layer, model_.active(layer));
        return y;
    }

  private:
    const SparseModel& model_;
    SparsityStatistics& statistics_;
};

}  // namespace

Quality measure(Workbench& bench, SparseModel& model, bool keep_masks) {
    Quality quality;
    const Sizes& sizes = bench.sizes();
    const int layers = sizes.model.layers;
    const auto evaluate = [&](nn::FeedForward& ffn) {
        return nn::evaluate(bench.decoder(), ffn, bench.data(), sizes.evaluation_windows,
                            sizes.sequences, compute_type(sizes));
    };
    if (!model.active) {
        quality.evaluation = evaluate(*model.ffn);
        quality.layer_sparsity =
            model.counted_sparsity
                ? model.counted_sparsity()
                : std::vector<double>(static_cast<std::size_t>(layers), model.fixed_sparsity);
        // Layers are equally large.
        quality.sparsity =
            std::accumulate(quality.layer_sparsity.begin(), quality.layer_sparsity.end(), 0.0) /
            layers;
        return quality;
    }
    quality.statistics = std::make_shared<SparsityStatistics>(layers, keep_masks);
    Counted counted(model, *quality.statistics);
    quality.evaluation = evaluate(counted);
    quality.sparsity = quality.statistics->mean();
    quality.layer_sparsity = quality.statistics->by_layer();
    quality.token_spread = quality.statistics->token_spread();
    return quality;
}

}  // namespace assay::lte
