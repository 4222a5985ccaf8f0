// Perplexity of the target over the steps of a fine-tuning (specification, section 4.2).
#include <algorithm>
#include "impls/dr_post_training/experiments/training_experiments.hpp"

#include "impls/dr_post_training/recipes/settings.hpp"
#include "impls/dr_post_training/recipes/text_rows.hpp"
#include "impls/dr_post_training/tensor_functions.hpp"
#include "impls/tensors/module.hpp"

namespace assay::dr_post_training {

std::vector<Axis> sft_axes() {
    return {
        {"model",
         "llama-toy: 0.2 M, llama-1m: 1 M parameters, on bytes, trained here; llama-tiny: to see "
         "that it works; smollm2: SmolLM2-135M, pretrained, on dictionaries and the Bible",
         {"llama-toy", "llama-1m", "llama-tiny", "smollm2"},
         false},
        {"relevance", "share of the general pool that is of the target's task", {0.2}, true},
        {"noise",
         "share of the pool that answers the target's questions (smollm2: such questions) wrongly",
         {0.3},
         true},
        {"n_val", "target rows there are", {std::int64_t{16}}, true},
        {"steps", "of the fine-tuning", {std::int64_t{300}}, true},
        {"rate",
         "learning rate; grid: of four (smollm2: one), the one with the least perplexity on "
         "validation rows",
         {"grid"},
         true}};
}

std::vector<Axis> reading_axes() {
    return {
        {"tuning",
         "what is trained: full, the model; lora: adapters of rank 8 beside every linear map, at "
         "ten times the rates; meso: the model, with Adam's moments in random subspaces",
         {"full", "lora", "meso"}},
        {"loss", "the mean over general rows is of tokens or of examples", {"token", "example"}},
        {"rule", "by which rows are chosen", {"topk", "greedy", "exact"}},
        {"similarity",
         "what products of general rows are multiplied with for greedy and exact; as_published: by "
         "the square of the scores' factor, as the code that was released at first",
         {"corrected", "as_published"}},
        {"head",
         "all: the head learns from all general rows; selected: it chooses like any other map",
         {"all", "selected"}},
        {"target",
         "merged: target rows run with the general ones; cached: before them, by themselves",
         {"merged", "cached"}},
        {"backend", "how scores are computed", {"pip", "gip", "direct", "compressed"}},
        {"m", "target rows of a step", {std::int64_t{1}}, true}};
}

ProfilePlan sft_profile(double seconds_per_sample) {
    ProfilePlan toy;
    toy.profile = Profile::toy;
    toy.provenances = {Provenance::measured};
    toy.axes = {{"model", {"llama-toy"}}};
    for (const Axis& axis : reading_axes()) toy.axes[axis.name] = {};
    toy.rounds = 8;
    toy.seconds_per_sample = seconds_per_sample;
    toy.bytes_per_sample = 200e3;
    toy.timeout_s = 3600;
    return toy;
}

void validate_sft(const SampleSpec& spec) { sft_settings(spec); }

namespace {

/// SmolLM2: the four arms of the paper, adapters.
ProfilePlan smollm2_profile() {
    ProfilePlan small = sft_profile(180);
    small.profile = Profile::small;
    small.axes["model"] = {"smollm2"};
    small.axes["tuning"] = {"lora"};
    small.axes["steps"] = {std::int64_t{40}};
    small.variants = {"full", "global", "layer", "target"};
    small.rounds = 5;
    small.bytes_per_sample = 800e3;
    small.timeout_s = 2 * 3600;
    return small;
}

bool on_text(const SampleSpec& spec) { return word_axis(spec, "model", "") == "smollm2"; }

std::optional<std::string> lacks(const SampleSpec& spec) {
    if (on_text(spec))
        if (auto reason = text_lacks()) return reason;
    return tensors::module_lacks();
}

void add_equal_time(Experiment& experiment) {
    const auto metric = [&](const char* name, const char* unit, const char* says,
                            Direction better) {
        experiment.metrics.push_back({name, unit, says, better, false, {}});
    };
    metric("perplexity_equal_time", "per token",
           "where the arm trains, at the rate it chose, for as long as 300 steps of plain training "
           "take (what it does before its first step included), at most four times as many steps",
           Direction::lower);
    metric("accuracy_equal_time", "share", "the same training's", Direction::higher);
    metric("step_over_plain", "ratio", "a step of the arm over a plain one, 50 of each in turns",
           Direction::lower);
    metric("steps_equal_time", "count", "that this makes", Direction::none);
}

}  // namespace

Experiment sft_perplexity() {
    Experiment experiment;
    experiment.id = "dr_post_training/sft_perplexity";
    experiment.title = "Perplexity of the target while a model is fine-tuned on other data";
    experiment.source = "arXiv 2605.07063v1, the figures of perplexity over steps";
    experiment.says =
        "A model that knows six tasks on words is fine-tuned on a pool of which some rows ask for "
        "the target's task under a word that is new to it, some answer the same question wrongly, "
        "and the rest are what it knows. The paper fine-tunes Llama-3.2-1B on natural data; "
        "profile "
        "small fine-tunes SmolLM2-135M, by adapters, on a dictionary of English and the Bible "
        "towards sixteen entries of a dictionary of computing, at one rate. All arms start from "
        "the same model and see the same batches of 8 general rows (those that choose "
        "keep 4), and each has its learning rate chosen by validation rows of the target.";
    experiment.axes = sft_axes();
    for (Axis& axis : reading_axes()) experiment.axes.push_back(std::move(axis));
    experiment.variants = sft_arms();
    experiment.metrics = {
        {"perplexity",
         "per token",
         "of 256 held-out target rows (smollm2: 24) at the end",
         Direction::lower,
         true,
         {}},
        {"perplexity_least",
         "per token",
         "the same at the best of the steps that were evaluated",
         Direction::lower,
         true,
         {}},
        {"perplexity_at_start", "per token", "before fine-tuning", Direction::none, true, {}},
        {"accuracy",
         "share",
         "of held-out target rows that greedy decoding answers word for word",
         Direction::higher,
         true,
         {}},
        {"rate", "", "learning rate that the validation rows chose", Direction::none, true, {}},
        {"kept_related",
         "share",
         "of the rows kept that are of the target's task",
         Direction::higher,
         true,
         {}},
        {"kept_contrary",
         "share",
         "of the rows kept that answer it wrongly",
         Direction::lower,
         true,
         {}},
        {"step_ms",
         "ms",
         "mean of a step: batch, gradients, update; rates of a grid run side by side, one a core",
         Direction::lower,
         false,
         {}}};
    add_equal_time(experiment);
    experiment.profiles = {sft_profile(15), smollm2_profile()};
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "perplexity",
                         .x = "relevance",
                         .panels = {"model", "noise"},
                         .x_title = "share of related rows",
                         .y_title = "perplexity of the target"};
    experiment.validate = validate_sft;
    experiment.unsupported = lacks;
    experiment.inputs = [](const SampleSpec& spec) {
        return on_text(spec) ? text_inputs() : std::vector<Input>();
    };
    experiment.run = tensors::run_of(&TensorFunctions::run_sft);
    return experiment;
}

Experiment sft_downstream() {
    Experiment experiment = sft_perplexity();
    experiment.id = "dr_post_training/sft_downstream";
    experiment.title = "Target rows answered word for word after fine-tuning on other data";
    experiment.source = "arXiv 2605.07063v1, the tables of downstream scores";
    experiment.variants = {"full", "global", "layer", "target"};
    experiment.profiles.resize(
        1);  // no model answers the definitions of profile small word by word
    experiment.profiles.front().axes["tuning"] = {"full", "lora", "meso"};
    experiment.figure.metric = "accuracy";
    experiment.figure.x = "tuning";
    experiment.figure.x_title = "what is trained";
    experiment.figure.y_title = "share answered right";
    return experiment;
}

Experiment equal_steps_at_toy() {
    Experiment experiment = sft_perplexity();
    experiment.profiles.resize(1);
    std::erase_if(experiment.metrics, [](const MetricSpec& metric) {
        return metric.name.ends_with("_equal_time") || metric.name == "step_over_plain";
    });
    return experiment;
}

Experiment case_study() {
    Experiment experiment = equal_steps_at_toy();
    experiment.id = "dr_post_training/case_study";
    experiment.title = "Which rows the linear maps of a model choose";
    experiment.source = "arXiv 2605.07063v1, the case study of layers";
    experiment.says += " Here, what each map chooses is compared with one choice for all maps.";
    experiment.variants = {"layer"};
    const auto metric = [&](const char* name, const char* unit, const char* says,
                            std::vector<std::string> labels) {
        experiment.metrics.push_back({name, unit, says, Direction::none, true, std::move(labels)});
    };
    metric("mean_score", "", "mean magnitude of a map's scores", {"map"});
    metric("rank_correlation", "", "of a map's ranking of rows with that of all scores added up",
           {"map"});
    metric("jaccard", "share", "of a map's rows with those of one choice for all", {"map"});
    metric("patterns", "count", "different selections in a step", {});
    metric("agreement", "share", "of rows that a map has in common with the same one a layer on",
           {});
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "rank_correlation",
                         .x = "map",
                         .panels = {},
                         .x_title = "linear map",
                         .y_title = "rank correlation with one choice for all"};
    return experiment;
}

namespace {

Experiment ours(const char* name, const char* title, std::vector<std::string> variants) {
    Experiment experiment = equal_steps_at_toy();
    experiment.id = std::string("dr_post_training/") + name;
    experiment.title = title;
    experiment.source = "our own: on the models of sft_perplexity";
    experiment.variants = std::move(variants);
    return experiment;
}

void sweep(Experiment& experiment, const char* axis, std::vector<Value> values) {
    for (ProfilePlan& plan : experiment.profiles) plan.axes[axis] = values;
}

void draw_over(Experiment& experiment, const char* axis, const char* title) {
    experiment.figure.x = axis;
    experiment.figure.x_title = title;
}

}  // namespace

Experiment x_sets() {
    std::vector<std::string> arms{"full", "layer", "a_gem", "target"};
    arms.insert(arms.begin() + 2, set_arms().begin(), set_arms().end());
    return ours(
        "x_sets",
        "Sets beyond subsets, the nearest member for every map, beside A-GEM and target rows",
        std::move(arms));
}

Experiment x_mix() {
    Experiment experiment = ours("x_mix", "Mixing target rows into the batch, or choosing by them",
                                 {"mixing", "layer", "global", "full"});
    sweep(experiment, "m", {std::int64_t{1}, std::int64_t{4}});
    draw_over(experiment, "m", "target rows of a step");
    return experiment;
}

Experiment x_scaling() {
    Experiment experiment = ours(
        "x_scaling", "The released factor of similarities, and the right one", {"layer", "global"});
    sweep(experiment, "rule", {"greedy"});
    sweep(experiment, "similarity", {"corrected", "as_published"});
    draw_over(experiment, "similarity", "factor of products of general rows");
    return experiment;
}

}  // namespace assay::dr_post_training
