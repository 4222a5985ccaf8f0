// What the experiments that train models run: whole samples, in the module of tensors.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "impls/lte/experiments/on_workbench.hpp"
#include "impls/nn/training/training_loop.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {
namespace {

constexpr int bins = 20;  // of scores

/// Of an arm that LTE trains.
LteRecipe recipe_of_arm(const XRouters& routers) {
    LteRecipe recipe = recipe_as_is();
    recipe.target_sparsity = routers.sparsity;
    recipe.probes = 5;
    switch (routers.arm) {
        case RouterArm::rate:
            recipe.router_rate = fast_router_rate;
            break;
        case RouterArm::gain:
            recipe.before_gain = true;
            break;
        case RouterArm::fast_detached_bias_tuned:
            recipe.tuned_share = 1.0 / 3;
            [[fallthrough]];
        case RouterArm::fast_detached_bias:
            recipe.router_bias = 3;
            [[fallthrough]];
        case RouterArm::fast_detached:
            recipe.detached_separability = true;
            [[fallthrough]];
        case RouterArm::fast:
            recipe.router_rate = fast_router_rate;
            recipe.before_gain = true;
            break;
        case RouterArm::published_fast:
            recipe.router_rate = fast_router_rate;
            recipe.before_gain = true;
            [[fallthrough]];
        case RouterArm::published:
            recipe.published = true;
            break;
        default:
            break;
    }
    return recipe;
}

/// `labels` of all values.
void record_scores(const std::vector<at::Tensor>& scores, double tau, const Labels& labels,
                   const Metric& score_share, const Metric& threshold) {
    const auto shares = score_histogram(scores, bins);
    for (int bin = 0; bin < bins; ++bin) {
        Labels at = labels;
        at["bin"] = (bin + 0.5) / bins;
        score_share(shares[static_cast<std::size_t>(bin)], at);
    }
    threshold(near_threshold(scores, tau, 0.1), labels);
}

void record_gradients(const std::vector<Stage1Step>& probed, const XRoutersFound& found) {
    for (std::size_t probe = 0; probe < probed.size(); ++probe) {
        const double progress = static_cast<double>(probe) / static_cast<double>(probed.size() - 1);
        const auto& gradients = *probed[probe].gradients;
        const auto norm = [&](const char* loss, const char* part, double value) {
            found.gradient_norm(
                value,
                {{"loss", std::string(loss)}, {"part", std::string(part)}, {"progress", progress}});
        };
        norm("task", "trunk", gradients.task_trunk);
        norm("task", "routers", gradients.task_routers);
        norm("separability", "trunk", gradients.separability_trunk);
        norm("separability", "routers", gradients.separability_routers);
    }
}

/// Weights of the feed-forward networks over all weights of the layers.
double ffn_share(const nn::DecoderConfig& config) {
    double ffn = 0, all = 0;
    for (const nn::NamedShape& parameter : nn::layer_parameters(config)) {
        double elements = 1;
        for (const auto extent : parameter.shape) elements *= static_cast<double>(extent);
        if (parameter.shape.size() < 2) continue;
        all += elements;
        if (parameter.name == "gate" || parameter.name == "up" || parameter.name == "down")
            ffn += elements;
    }
    return ffn / all;
}

/// With the weight asked for.
LteRecipe recipe_of(const Separated& separated) {
    LteRecipe recipe = recipe_of(static_cast<const Training&>(separated));
    recipe.lambda = separated.lambda;
    return recipe;
}

/// LTE trained and measured.
void train_and_measure(const Materials& materials, const LteRecipe& recipe, Recorder& recorder) {
    on_workbench(materials, recorder, [&](Workbench& bench) {
        SparseModel model = train_lte(bench, recipe).model;
        record(measure(bench, model), TrainingFound(recorder));
    });
}

void run(const Training& training, Recorder& recorder) {
    on_workbench(training, recorder, [&](Workbench& bench) {
        SparseModel model = make_competitor(bench, training);
        const Fig2Found found(recorder);
        record(measure(bench, model), found);
        if (model.top_score) found.top_score(model.top_score());  // topk_softmax: fig2 alone has it
    });
}

void run(const Fig3& fig3, Recorder& recorder) {
    on_workbench(fig3, recorder, [&](Workbench& bench) {
        LteTrained trained = train_lte(bench, recipe_of(fig3));
        const Fig3Found found(recorder);
        record_scores(trained.scores, trained.tau, {}, found.score_share, found.near_threshold);
        record(measure(bench, trained.model), found);
    });
}

void run(const Fig9& fig9, Recorder& recorder) {
    LteRecipe recipe = recipe_of(fig9);
    recipe.grouping = fig9.grouping;
    train_and_measure(fig9, recipe, recorder);
}

void run(const Fig10& fig10, Recorder& recorder) {
    LteRecipe recipe = recipe_of(fig10);
    recipe.published = true;
    recipe.eta = fig10.eta;
    train_and_measure(fig10, recipe, recorder);
}

void run(const Fig11& fig11, Recorder& recorder) {
    on_workbench(fig11, recorder, [&](Workbench& bench) {
        LteTrained trained = train_lte(bench, recipe_of(fig11));
        const Fig11Found found(recorder);
        found.soft_to_hard(trained.nll_hard_before - trained.nll_soft);
        record(measure(bench, trained.model), found);
    });
}

void run(const Fig15& fig15, Recorder& recorder) {
    on_workbench(fig15, recorder, [&](Workbench& bench) {
        SparseModel model = train_lte(bench, recipe_of(fig15)).model;
        const Quality quality = measure(bench, model, /*keep_masks=*/true);
        const double alone = quality.statistics->union_sparsity(1, fig15.seed);
        const Fig15Found found(recorder);
        for (const int batch : {1, 2, 4, 8, 16}) {
            const double together = quality.statistics->union_sparsity(batch, fig15.seed);
            const Labels at{{"batch", std::int64_t{batch}}};
            found.union_sparsity(together, at);
            found.union_over_independent(union_over_independent(together, alone, batch), at);
        }
        record(quality, found);
    });
}

void run(const Tab2& tab2, Recorder& recorder) {
    on_workbench(tab2, recorder, [&](Workbench& bench) {
        SparseModel model = make_competitor(bench, tab2);
        const Quality quality = measure(bench, model);
        const Tab2Found found(recorder);
        found.overall_sparsity(quality.sparsity * ffn_share(bench.sizes().model));
        record(quality, found);
    });
}

}  // namespace

void on_workbench(const Materials& materials, Recorder& recorder,
                  const std::function<void(Workbench&)>& body) {
    try {
        Workbench bench(materials, recorder);
        body(bench);
    } catch (const nn::TrainingDiverged& diverged) {
        recorder.event("divergence", 0, -1,
                       {{"step", diverged.step()},
                        {"loss", std::to_string(diverged.loss())},
                        {"why", diverged.what()}});
        throw SampleError(SampleStatus::failed, diverged.what());
    }
}

LteRecipe recipe_of(const Training& training) {
    LteRecipe recipe = training.recipe == Recipe::fast ? LteRecipe() : recipe_as_is();
    recipe.target_sparsity = training.sparsity;
    return recipe;
}

SparseModel make_competitor(Workbench& bench, const Training& training) {
    if (training.competitor == Competitor::lte) return train_lte(bench, recipe_of(training)).model;
    return make_rival(bench, training.competitor, training.sparsity);
}

void record(const Quality& quality, const TrainingFound& found) {
    found.perplexity(quality.evaluation.perplexity());
    found.bits_per_byte(quality.evaluation.bits_per_byte);
    found.ffn_sparsity(quality.sparsity);
    for (std::size_t layer = 0; layer < quality.layer_sparsity.size(); ++layer)
        found.layer_sparsity(quality.layer_sparsity[layer],
                             {{"layer", static_cast<std::int64_t>(layer)}});
    const auto [least, most] =
        std::minmax_element(quality.layer_sparsity.begin(), quality.layer_sparsity.end());
    found.layer_range(*most - *least);
    found.token_spread(quality.token_spread);
}

void run(const XRouters& routers, Recorder& recorder) {
    if (const auto rival = of_word<Competitor>(to_string(routers.arm))) {
        Training training = routers;
        training.competitor = *rival;
        return run(training, recorder);
    }
    on_workbench(routers, recorder, [&](Workbench& bench) {
        const LteRecipe recipe = recipe_of_arm(routers);
        LteTrained trained = train_lte(bench, recipe);
        const XRoutersFound found(recorder);
        const Labels before{{"when", std::string("before")}}, after{{"when", std::string("after")}};
        record_scores(trained.first_scores, recipe.tau, before, found.score_share,
                      found.near_threshold);
        record_scores(trained.scores, recipe.tau, after, found.score_share, found.near_threshold);
        found.soft_loss(trained.nll_soft_first, before);
        found.soft_loss(trained.nll_soft, after);
        found.hard_loss(trained.nll_hard_before);
        record_gradients(trained.probed, found);
        record(measure(bench, trained.model), found);
    });
}

const tensors::Provided provided_trainings[]{
    {compete, run},           {compete_overall, run},    {histogram_of_scores, run},
    {train_on_grouping, run}, {train_as_published, run}, {train_with_lambda, run},
    {measure_unions, run},    {train_router_arm, run},   {training_lacks, workbench_lacks}};

}  // namespace assay::lte
