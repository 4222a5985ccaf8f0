// The rivals of LTE. Those that train do so on as many tokens as both of LTE's stages; the
// others start from the dense model that was trained on as many.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>

#include "impls/lte/recipes/sparse_model.hpp"
#include "impls/lte/rivals/deja_vu.hpp"
#include "impls/lte/rivals/moefication.hpp"
#include "impls/lte/rivals/pruning.hpp"
#include "impls/lte/rivals/teal_and_cats.hpp"
#include "impls/lte/rivals/trained_routers.hpp"
#include "kernels/sparse_ffn/experts.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

constexpr int wanda_sequences = 128;  ///< as many as in its paper; there of 2,048 tokens each

SparseModel selecting(std::unique_ptr<SelectingFeedForward> ffn) {
    SparseModel model;
    model.active = [chosen = ffn.get()](int layer) {
        return chosen->active()[static_cast<std::size_t>(layer)];
    };
    model.ffn = std::move(ffn);
    return model;
}

SparseModel pruned(double removed) {
    SparseModel model;
    model.ffn = std::make_unique<nn::DenseFeedForward>();
    model.fixed_sparsity = removed;
    return model;
}

int experts_kept(const Workbench& bench, double sparsity) {
    return units_kept(bench.sizes().model.hidden / kernels::neurons_per_expert, sparsity);
}

SparseModel dense(Workbench& bench, double) {
    bench.tune_dense();
    return pruned(0);
}

SparseModel random_routed(Workbench& bench, double sparsity) {
    group_neurons(bench, GroupingKind::kmeans);
    auto ffn = random_router(bench.decoder().config(), kernels::neurons_per_expert,
                             experts_kept(bench, sparsity), bench.seed(), bench.device());
    bench.tune("random_router", *ffn);
    return selecting(std::move(ffn));
}

SparseModel oracle(Workbench& bench, double sparsity, HiddenFunction hidden) {
    group_neurons(bench, GroupingKind::kmeans);
    return selecting(expert_oracle(bench.sizes().model.layers, kernels::neurons_per_expert,
                                   experts_kept(bench, sparsity), hidden));
}

SparseModel dense_oracle(Workbench& bench, double sparsity) {
    bench.tune_dense();
    return oracle(bench, sparsity, nn::ffn_hidden);
}

SparseModel moefication(Workbench& bench, double sparsity) {
    ReluFeedForward swapped;
    bench.tune_shared("moefication", swapped);
    return oracle(bench, sparsity, relu_hidden);
}

std::unique_ptr<SelectingFeedForward> predictors(Workbench& bench, double sparsity) {
    DejaVuOptions options;
    options.sequences = sequences_within(bench.sizes().predictor_bytes, bench.decoder().config(),
                                         bench.sizes().context, options);
    options.seed = bench.seed();
    bench.recorder().progress(0, "fitting predictors");
    return deja_vu(bench.decoder(), bench.data(), 1 - sparsity, options);
}

SparseModel predicted(Workbench& bench, double sparsity) {
    bench.tune_dense();
    return selecting(predictors(bench, sparsity));
}

SparseModel predicted_tuned(Workbench& bench, double sparsity) {
    auto ffn = predictors(bench, sparsity);
    bench.tune("deja_vu_tuned", *ffn);
    return selecting(std::move(ffn));
}

SparseModel routed(Workbench& bench, const std::string& name,
                   std::unique_ptr<TrainedSelection> ffn) {
    ffn->training(true);
    bench.tune(name, *ffn, ffn->along());
    ffn->training(false);
    return selecting(std::move(ffn));
}

SparseModel topk_softmax(Workbench& bench, double sparsity) {
    group_neurons(bench, GroupingKind::kmeans);
    auto ffn = std::make_unique<TopKSoftmax>(bench.decoder().config(), kernels::neurons_per_expert,
                                             experts_kept(bench, sparsity), /*noise=*/1,
                                             bench.seed(), bench.device());
    const TopKSoftmax* router = ffn.get();
    SparseModel model = routed(bench, "topk_softmax", std::move(ffn));
    model.top_score = [router] { return router->top_weight(); };
    return model;
}

SparseModel sigma_moe(Workbench& bench, double sparsity) {
    group_neurons(bench, GroupingKind::kmeans);
    SigmaMoeOptions options;
    options.seed = bench.seed();
    return routed(
        bench, "sigma_moe",
        std::make_unique<SigmaMoe>(bench.decoder().config(), kernels::neurons_per_expert,
                                   experts_kept(bench, sparsity), options, bench.device()));
}

SparseModel teal(Workbench& bench, double sparsity) {
    bench.tune_dense();
    auto ffn = std::make_unique<Teal>(bench.decoder(), bench.data(), sparsity);
    SparseModel model;
    model.counted_sparsity = [counted = ffn.get()] { return counted->layer_sparsity(); };
    model.stored = ffn->thresholds();
    model.ffn = std::move(ffn);
    return model;
}

SparseModel thresholded(Workbench& bench, double sparsity) {
    bench.tune_dense();
    auto ffn = std::make_unique<Cats>(bench.decoder(), bench.data(), sparsity);
    const auto thresholds = ffn->thresholds();
    SparseModel model = selecting(std::move(ffn));
    model.stored = thresholds;
    return model;
}

SparseModel magnitude(Workbench& bench, const PruningPattern& pattern) {
    bench.tune_dense();
    return pruned(prune_by_magnitude(bench.decoder(), pattern));
}

SparseModel wanda(Workbench& bench, const PruningPattern& pattern) {
    bench.tune_dense();
    return pruned(prune_by_wanda(bench.decoder(), pattern, bench.data(), wanda_sequences));
}

using Maker = std::function<SparseModel(Workbench&, double sparsity)>;
using Pruner = SparseModel (*)(Workbench&, const PruningPattern&);

Maker unstructured(Pruner prune) {
    return [prune](Workbench& bench, double sparsity) {
        return prune(bench, {.n = 0, .m = 0, .share = sparsity});
    };
}

Maker in_groups(Pruner prune, const char* text) {
    return [prune, text](Workbench& bench, double sparsity) {
        const auto pattern = parse_pattern(text);
        if (std::abs(sparsity - pattern.share) > 1e-9)
            throw UserError(fmt::format("a {} pattern leaves out {}, not {}; ask for that", text,
                                        pattern.share, sparsity));
        return prune(bench, pattern);
    };
}

const std::map<Competitor, Maker>& makers() {
    static const std::map<Competitor, Maker> all{
        {Competitor::dense, dense},
        {Competitor::random_router, random_routed},
        {Competitor::expert_oracle, dense_oracle},
        {Competitor::moefication, moefication},
        {Competitor::deja_vu, predicted},
        {Competitor::deja_vu_tuned, predicted_tuned},
        {Competitor::topk_softmax, topk_softmax},
        {Competitor::sigma_moe, sigma_moe},
        {Competitor::teal, teal},
        {Competitor::cats, thresholded},
        {Competitor::magnitude, unstructured(magnitude)},
        {Competitor::magnitude_2_4, in_groups(magnitude, "2:4")},
        {Competitor::magnitude_4_8, in_groups(magnitude, "4:8")},
        {Competitor::wanda, unstructured(wanda)},
        {Competitor::wanda_2_4, in_groups(wanda, "2:4")},
        {Competitor::wanda_4_8, in_groups(wanda, "4:8")}};
    return all;
}

}  // namespace

SparseModel make_rival(Workbench& bench, Competitor rival, double sparsity) {
    const Maker& make = makers().at(rival);
    units_kept(1, sparsity);  // refuses what no method can do
    return make(bench, sparsity);
}

}  // namespace assay::lte
