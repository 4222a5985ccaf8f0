// What the experiments that train models run: whole samples, in the module of tensors.
#include <nlohmann/json.hpp>
#include <optional>

#include "impls/lte/experiments/on_workbench.hpp"
#include "impls/lte/tensor_functions.hpp"
#include "impls/nn/training/training_loop.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::lte {
namespace {

constexpr int bins = 20;  // of scores

/// The arms of x_routers that LTE trains; nullopt for its rivals.
std::optional<LteRecipe> router_arm(const SampleSpec& spec) {
    constexpr int probes = 5;
    const auto has = [&](const char* part) { return spec.variant.find(part) != std::string::npos; };
    LteRecipe recipe = recipe_as_is();
    recipe.target_sparsity = number_axis(spec, "sparsity");
    recipe.probes = probes;
    recipe.published = has("published");
    if (spec.variant == "as_is" || spec.variant == "published") return recipe;
    const bool fast = has("fast");
    if (!fast && spec.variant != "rate" && spec.variant != "gain") return std::nullopt;
    if (fast || spec.variant == "rate") recipe.router_rate = fast_router_rate;
    recipe.before_gain = fast || spec.variant == "gain";
    recipe.detached_separability = has("_detached");
    recipe.router_bias = has("_bias") ? 3 : 0;
    recipe.tuned_share = has("_tuned") ? 1.0 / 3 : 0;
    return recipe;
}

void record_scores(const std::vector<at::Tensor>& scores, double tau, const char* when,
                   Recorder& recorder) {
    const auto shares = score_histogram(scores, bins);
    for (int bin = 0; bin < bins; ++bin)
        recorder.metric("score_share", shares[static_cast<std::size_t>(bin)],
                        {{"bin", (bin + 0.5) / bins}, {"when", std::string(when)}});
    recorder.metric("near_threshold", near_threshold(scores, tau, 0.1),
                    {{"when", std::string(when)}});
}

void record_gradients(const std::vector<Stage1Step>& probed, Recorder& recorder) {
    for (std::size_t probe = 0; probe < probed.size(); ++probe) {
        const double progress = static_cast<double>(probe) / static_cast<double>(probed.size() - 1);
        const auto& gradients = *probed[probe].gradients;
        const auto norm = [&](const char* loss, const char* part, double value) {
            recorder.metric(
                "gradient_norm", value,
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

}  // namespace

void on_workbench(const SampleSpec& spec, Recorder& recorder,
                  const std::function<void(Workbench&)>& body) {
    try {
        Workbench bench(spec, recorder);
        body(bench);
    } catch (const nn::TrainingDiverged& diverged) {
        recorder.event("divergence", 0, -1,
                       {{"step", diverged.step()},
                        {"loss", std::to_string(diverged.loss())},
                        {"why", diverged.what()}});
        throw SampleError(SampleStatus::failed, diverged.what());
    }
}

LteRecipe recipe_of(const SampleSpec& spec) {
    const auto found = spec.axes.find("recipe");
    const bool fast = found != spec.axes.end() && to_string(found->second) == "fast";
    LteRecipe recipe = fast ? LteRecipe() : recipe_as_is();
    if (spec.axes.contains("sparsity")) recipe.target_sparsity = number_axis(spec, "sparsity");
    if (spec.axes.contains("lambda")) recipe.lambda = number_axis(spec, "lambda");
    return recipe;
}

SparseModel make_competitor(Workbench& bench, const SampleSpec& spec) {
    LteRecipe recipe = recipe_of(spec);
    if (spec.variant == "lte") return train_lte(bench, recipe).model;
    if (spec.variant == "lte_published") {
        recipe.published = true;
        recipe.eta = number_axis(spec, "eta");
        return train_lte(bench, recipe).model;
    }
    return make_rival(bench, spec.variant, number_axis(spec, "sparsity"));
}

void compete(const SampleSpec& spec, Recorder& recorder) {
    on_workbench(spec, recorder, [&](Workbench& bench) {
        SparseModel model = make_competitor(bench, spec);
        record(measure(bench, model), recorder);
        if (model.top_score) recorder.metric("top_score", model.top_score());
    });
}

void histogram_of_scores(const SampleSpec& spec, Recorder& recorder) {
    on_workbench(spec, recorder, [&](Workbench& bench) {
        LteTrained trained = train_lte(bench, recipe_of(spec));
        const auto shares = score_histogram(trained.scores, bins);
        for (int bin = 0; bin < bins; ++bin)
            recorder.metric("score_share", shares[static_cast<std::size_t>(bin)],
                            {{"bin", (bin + 0.5) / bins}});
        recorder.metric("near_threshold", near_threshold(trained.scores, trained.tau, 0.1));
        record(measure(bench, trained.model), recorder);
    });
}

void train_on_grouping(const SampleSpec& spec, Recorder& recorder) {
    on_workbench(spec, recorder, [&](Workbench& bench) {
        LteRecipe recipe = recipe_of(spec);
        recipe.grouping = spec.variant == "random"         ? GroupingKind::random
                          : spec.variant == "coactivation" ? GroupingKind::coactivation
                                                           : GroupingKind::kmeans;
        SparseModel model = train_lte(bench, recipe).model;
        record(measure(bench, model), recorder);
    });
}

void train_with_lambda(const SampleSpec& spec, Recorder& recorder) {
    on_workbench(spec, recorder, [&](Workbench& bench) {
        LteTrained trained = train_lte(bench, recipe_of(spec));
        recorder.metric("soft_to_hard", trained.nll_hard_before - trained.nll_soft);
        record(measure(bench, trained.model), recorder);
    });
}

void measure_unions(const SampleSpec& spec, Recorder& recorder) {
    on_workbench(spec, recorder, [&](Workbench& bench) {
        SparseModel model = train_lte(bench, recipe_of(spec)).model;
        const Quality quality = measure(bench, model, /*keep_masks=*/true);
        const double alone = quality.statistics->union_sparsity(1, spec.seed);
        for (const int batch : {1, 2, 4, 8, 16}) {
            const double together = quality.statistics->union_sparsity(batch, spec.seed);
            const Labels at{{"batch", std::int64_t{batch}}};
            recorder.metric("union_sparsity", together, at);
            recorder.metric("union_over_independent",
                            union_over_independent(together, alone, batch), at);
        }
        record(quality, recorder);
    });
}

void train_router_arm(const SampleSpec& spec, Recorder& recorder) {
    const auto recipe = router_arm(spec);
    if (!recipe) return compete(spec, recorder);
    on_workbench(spec, recorder, [&](Workbench& bench) {
        LteTrained trained = train_lte(bench, *recipe);
        record_scores(trained.first_scores, recipe->tau, "before", recorder);
        record_scores(trained.scores, recipe->tau, "after", recorder);
        recorder.metric("soft_loss", trained.nll_soft_first, {{"when", std::string("before")}});
        recorder.metric("soft_loss", trained.nll_soft, {{"when", std::string("after")}});
        recorder.metric("hard_loss", trained.nll_hard_before);
        record_gradients(trained.probed, recorder);
        record(measure(bench, trained.model), recorder);
    });
}

void compete_overall(const SampleSpec& spec, Recorder& recorder) {
    on_workbench(spec, recorder, [&](Workbench& bench) {
        SparseModel model = make_competitor(bench, spec);
        const Quality quality = measure(bench, model);
        recorder.metric("overall_sparsity", quality.sparsity * ffn_share(bench.sizes().model));
        record(quality, recorder);
    });
}

}  // namespace assay::lte
