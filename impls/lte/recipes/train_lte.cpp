// LTE trained: neurons grouped into experts, both stages, and what lies between them.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "impls/lte/method/grouping.hpp"
#include "impls/lte/method/loss_schedule.hpp"
#include "impls/lte/method/routed_feed_forward.hpp"
#include "impls/lte/method/stages.hpp"
#include "impls/lte/recipes/sparse_model.hpp"
#include "impls/lte/rivals/rival.hpp"
#include "kernels/sparse_ffn/experts.hpp"

namespace assay::lte {
namespace {

constexpr int calibration_windows = 8;
/// That co-activation is counted on: with a context of 128 tokens two of 512 neurons that do not
/// know of each other meet some 330 times.
constexpr int coactivation_windows = 64;

/// Counts, pass by pass, which neurons of each layer are active together.
class CoactivationProbe : public nn::FeedForward {
  public:
    explicit CoactivationProbe(int layers) : counts(static_cast<std::size_t>(layers)) {}
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override {
        constexpr double share = 0.2;
        const auto h = nn::ffn_hidden(weights, x);
        auto& here = counts[static_cast<std::size_t>(layer)];
        const auto more = coactivation_counts(h.to(at::kFloat), share);
        here = here.defined() ? here + more : more;
        return nn::ffn_output(weights, h);
    }
    std::vector<at::Tensor> counts;
};

Grouping group(Workbench& bench, GroupingKind kind, const CoactivationProbe& probe, int layer) {
    const nn::FfnWeights weights = bench.decoder().ffn(layer);
    const std::uint64_t seed = bench.seed() * 1000 + static_cast<std::uint64_t>(layer);
    switch (kind) {
        case GroupingKind::random:
            return random_grouping(static_cast<int>(weights.up.size(0)),
                                   kernels::neurons_per_expert, seed);
        case GroupingKind::coactivation:
            return coactivation_grouping(probe.counts[static_cast<std::size_t>(layer)],
                                         kernels::neurons_per_expert, seed);
        case GroupingKind::kmeans:
            break;
    }
    KMeansOptions options;
    options.seed = seed;
    const auto& features = weights.gate.defined() ? weights.gate : weights.up;
    return balanced_kmeans(features.detach(), kernels::neurons_per_expert, options);
}

/// Soft mode, and the scores that each layer gave.
class ScoreKeeper : public nn::FeedForward {
  public:
    ScoreKeeper(const Routers& routers, double tau, int layers)
        : soft_(routers, tau, LteMode::soft), scores_(static_cast<std::size_t>(layers)) {}
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override {
        auto y = soft_.run(layer, x, weights);
        const auto index = static_cast<std::size_t>(layer);
        scores_[index].push_back(soft_.scores()[index].detach().clone());
        return y;
    }
    std::vector<at::Tensor> by_layer() const {
        std::vector<at::Tensor> joined;
        for (const auto& passes : scores_) joined.push_back(at::cat(passes));
        return joined;
    }

  private:
    LteFeedForward soft_;
    std::vector<std::vector<at::Tensor>> scores_;
};

/// The scores of all held-out tokens, soft mode's quality as a by-product.
double soft_quality(Workbench& bench, const Routers& routers, double tau,
                    std::vector<at::Tensor>& scores) {
    const Sizes& sizes = bench.sizes();
    ScoreKeeper soft(routers, tau, sizes.model.layers);
    const at::NoGradGuard no_grad;
    const double nll = nn::evaluate(bench.decoder(), soft, bench.data(), sizes.evaluation_windows,
                                    sizes.sequences, compute_type(sizes))
                           .nll_nats_per_token;
    scores = soft.by_layer();
    return nll;
}

/// The score below which the share `target` of the scores of training text lies, over all layers.
double threshold_at(Workbench& bench, const Routers& routers, double target) {
    ScoreKeeper soft(routers, 0, bench.sizes().model.layers);
    pass_training_text(bench.decoder(), soft, bench.data(), calibration_windows);
    std::vector<at::Tensor> flat;
    for (const auto& layer : soft.by_layer()) flat.push_back(layer.reshape({-1}));
    const auto all = std::get<0>(at::cat(flat).sort());
    const auto rank = std::llround(target * static_cast<double>(all.numel()));
    return all[std::clamp<std::int64_t>(rank, 1, all.numel()) - 1].item<double>();
}

std::unique_ptr<Schedule> schedule_of(const LteRecipe& recipe) {
    if (recipe.published)
        return std::make_unique<PublishedSchedule>(recipe.eta, recipe.lambda, recipe.tau);
    TargetOptions options;
    options.target = recipe.target_sparsity;
    options.tau = recipe.tau;
    options.lambda = recipe.lambda;
    return std::make_unique<TargetSchedule>(options);
}

/// All that a training depends on.
std::string identity(const LteRecipe& recipe) {
    return fmt::format("lte {} {} {} {} {} {} {} {} {} {} {} {}", static_cast<int>(recipe.grouping),
                       recipe.published, recipe.eta, recipe.lambda, recipe.target_sparsity,
                       recipe.tau, recipe.router_rate, recipe.before_gain,
                       recipe.detached_separability, recipe.router_bias, recipe.tuned_share,
                       recipe.probes);
}

}  // namespace

void group_neurons(Workbench& bench, GroupingKind kind) {
    const int layers = bench.sizes().model.layers;
    CoactivationProbe probe(layers);
    if (kind == GroupingKind::coactivation) {
        const at::NoGradGuard no_grad;
        for (int step = 0; step < coactivation_windows; ++step) {
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

LteTrained train_lte(Workbench& bench, const LteRecipe& recipe) {
    const Sizes& sizes = bench.sizes();
    // Most figures show the same few trainings from another side.
    const auto states = bench.shared_states(identity(recipe));
    const auto held = states->hold("lte");  // who wants the same waits, and finds it
    const auto left = [&](std::int64_t steps) {
        return steps - std::llround(recipe.tuned_share * static_cast<double>(steps));
    };
    const auto stage1_steps = left(sizes.stage1_steps), stage2_steps = left(sizes.stage2_steps);
    if (recipe.tuned_share > 0)
        bench.tune_dense(sizes.tuning_steps() - stage1_steps - stage2_steps, *states);
    group_neurons(bench, recipe.grouping);
    auto routers =
        std::make_shared<Routers>(bench.decoder(), RouterOptions{.bias = recipe.router_bias,
                                                                 .before_gain = recipe.before_gain,
                                                                 .seed = bench.seed()});
    const auto schedule = schedule_of(recipe);

    LteTrained trained;
    if (recipe.probes > 0)
        trained.nll_soft_first = soft_quality(bench, *routers, recipe.tau, trained.first_scores);
    {
        Workbench::Curve curve(bench, "stage1", stage1_steps);
        std::vector<double> at, sparsity, eta;
        const auto training = bench.tuning(stage1_steps, 2);
        const Stage1Options options{
            .tau = recipe.tau,
            .router_rate =
                recipe.router_rate > 0 ? recipe.router_rate / training.options.learning_rate : 1,
            .detached_separability = recipe.detached_separability,
            .probes = recipe.probes};
        train_stage1(bench.decoder(), *routers, options, *schedule, bench.data(), training, *states,
                     [&](const Stage1Step& step) {
                         curve(step.step, step.nll);
                         at.push_back(static_cast<double>(step.step));
                         sparsity.push_back(step.sparsity);
                         eta.push_back(step.weights.eta);
                         if (step.gradients) trained.probed.push_back(step);
                     });
        bench.recorder().time_series("sparsity", "share", at, sparsity, {});
        bench.recorder().time_series("eta", "1", at, eta, {});
    }
    trained.nll_soft = soft_quality(bench, *routers, recipe.tau, trained.scores);
    trained.tau = !recipe.published && recipe.lambda == 0
                      ? threshold_at(bench, *routers, recipe.target_sparsity)
                      : recipe.tau;
    const auto make_hard = [&] {
        return std::make_unique<LteFeedForward>(*routers, trained.tau, LteMode::hard);
    };
    trained.nll_hard_before =
        nn::evaluate(bench.decoder(), *make_hard(), bench.data(), sizes.evaluation_windows,
                     sizes.sequences, compute_type(sizes))
            .nll_nats_per_token;
    {
        Workbench::Curve curve(bench, "stage2", stage2_steps);
        train_stage2(bench.decoder(), *routers, trained.tau, bench.data(),
                     bench.tuning(stage2_steps, 3), *states, std::ref(curve));
    }
    auto hard = make_hard();
    trained.model.active = [ffn = hard.get(), tau = trained.tau](int layer) {
        return ffn->scores()[static_cast<std::size_t>(layer)] > tau;
    };
    trained.model.ffn = std::move(hard);
    trained.model.stored = routers->stored(trained.tau);
    trained.model.owned = routers;
    return trained;
}

}  // namespace assay::lte
