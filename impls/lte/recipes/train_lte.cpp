// Both stages, and what lies between them.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "impls/lte/method/lte_feed_forward.hpp"
#include "impls/lte/method/schedule.hpp"
#include "impls/lte/method/stages.hpp"
#include "impls/lte/recipes/group_neurons.hpp"
#include "impls/lte/recipes/sparse_model.hpp"

namespace assay::lte {
namespace {

/// The scores of held-out tokens, soft mode's quality as a by-product.
double soft_quality(Workbench& bench, const Routers& routers, double tau,
                    std::vector<at::Tensor>& scores) {
    LteFeedForward soft(routers, tau, LteMode::soft);
    const at::NoGradGuard no_grad;
    const Sizes& sizes = bench.sizes();
    const double nll = nn::evaluate(bench.decoder(), soft, bench.data(), sizes.evaluation_windows,
                                    sizes.sequences, sizes.compute)
                           .nll_nats_per_token;
    for (const auto& layer : soft.scores()) scores.push_back(layer.detach().clone());
    return nll;
}

std::unique_ptr<Schedule> schedule_of(const LteRecipe& recipe) {
    if (recipe.published) return std::make_unique<PublishedSchedule>(recipe.eta, recipe.lambda);
    TargetOptions options;
    options.target = recipe.target_sparsity;
    options.lambda = recipe.lambda;
    return std::make_unique<TargetSchedule>(options);
}

}  // namespace

LteTrained train_lte(Workbench& bench, const LteRecipe& recipe) {
    const Sizes& sizes = bench.sizes();
    group_neurons(bench, recipe.grouping);
    RouterOptions router_options;
    router_options.expert_size = expert_size;
    router_options.seed = bench.seed();
    auto routers = std::make_shared<Routers>(bench.decoder().config(), router_options);
    const auto schedule = schedule_of(recipe);

    LteTrained trained;
    {
        Workbench::Curve curve(bench, "stage1", sizes.stage1_steps);
        std::vector<double> at, sparsity, eta;
        train_stage1(bench.decoder(), *routers, recipe.tau, *schedule, bench.data(),
                     bench.tuning(sizes.stage1_steps, 2), bench.keeper(),
                     [&](const Stage1Step& step) {
                         curve(step.step, step.nll);
                         at.push_back(static_cast<double>(step.step));
                         sparsity.push_back(step.sparsity);
                         eta.push_back(step.weights.eta);
                     });
        bench.recorder().time_series("sparsity", "share", at, sparsity, {});
        bench.recorder().time_series("eta", "1", at, eta, {});
    }
    trained.nll_soft = soft_quality(bench, *routers, recipe.tau, trained.scores);
    const auto make_hard = [&] {
        return std::make_unique<LteFeedForward>(*routers, recipe.tau, LteMode::hard);
    };
    trained.nll_hard_before = nn::evaluate(bench.decoder(), *make_hard(), bench.data(),
                                           sizes.evaluation_windows, sizes.sequences, sizes.compute)
                                  .nll_nats_per_token;
    {
        Workbench::Curve curve(bench, "stage2", sizes.stage2_steps);
        train_stage2(bench.decoder(), *routers, recipe.tau, bench.data(),
                     bench.tuning(sizes.stage2_steps, 3), bench.keeper(), std::ref(curve));
    }
    auto hard = make_hard();
    trained.model.active = [ffn = hard.get(), tau = recipe.tau](int layer) {
        return ffn->scores()[static_cast<std::size_t>(layer)] > tau;
    };
    trained.model.ffn = std::move(hard);
    trained.model.owned = routers;
    return trained;
}

}  // namespace assay::lte
