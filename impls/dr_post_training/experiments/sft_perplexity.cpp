// Perplexity of the target over the steps of a fine-tuning (specification, section 4.2).
#include <utility>

#include "impls/dr_post_training/experiments/training_experiments.hpp"
#include "impls/dr_post_training/recipes/text_rows.hpp"

namespace assay::dr_post_training {
namespace {

ProfilePlan profile(double seconds_per_sample) {
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.axes = {{"model", {"llama-toy"}}};
    const auto readings = reading_axes();
    for (const Axis& axis : readings.declared()) toy.axes[axis.name] = {};
    toy.rounds = 8;
    toy.seconds_per_sample = seconds_per_sample;
    toy.bytes_per_sample = 200e3;
    toy.timeout_s = 3600;
    return toy;
}

/// SmolLM2: the four arms of the paper, adapters.
ProfilePlan smollm2_profile() {
    ProfilePlan small = profile(180);
    small.profile = Profile::small;
    small.axes["model"] = {"smollm2"};
    small.axes["tuning"] = {"lora"};
    small.axes["steps"] = {40};
    small.variants = {"full", "global", "layer", "target"};
    small.rounds = 5;
    small.bytes_per_sample = 800e3;
    small.timeout_s = 2 * 3600;
    return small;
}

bool on_text(const FineTuning& tuning) { return tuning.model == "smollm2"; }

Experiment ours(const char* name, const char* title) {
    return fine_tuning(name, title, "our own: on the models of sft_perplexity");
}

void sweep(Experiment& experiment, const char* axis, std::vector<Value> values) {
    for (ProfilePlan& plan : experiment.profiles) plan.axes[axis] = values;
}

void draw_over(Experiment& experiment, const char* axis, const char* title) {
    experiment.figure.x = axis;
    experiment.figure.x_title = title;
}

}  // namespace

Experiment fine_tuning(const char* name, const char* title, const char* source) {
    return {.id = std::string("dr_post_training/") + name,
            .title = title,
            .source = source,
            .says =
                "A model that knows six tasks on words is fine-tuned on a pool of which some rows "
                "ask for the target's task under a word that is new to it, some answer the same "
                "question wrongly, and the rest are what it knows. The paper fine-tunes "
                "Llama-3.2-1B on natural data; profile small fine-tunes SmolLM2-135M, by adapters, "
                "on a dictionary of English and the Bible towards sixteen entries of a dictionary "
                "of computing, at one rate. All arms start from the same model and see the same "
                "batches of 8 general rows (those that choose keep 4), and each has its learning "
                "rate chosen by validation rows of the target.",
            .metrics = declared<SftFound>(),
            .profiles = {profile(15)},
            .figure = {.kind = Figure::Kind::bars,
                       .metric = "perplexity",
                       .x = "relevance",
                       .panels = {"model", "noise"},
                       .x_title = "share of related rows",
                       .y_title = "perplexity of the target"}};
}

Experiment with_arms(Experiment said, const std::vector<std::string>& arms,
                     FineTuning::Besides besides, void (*check_first)(const FineTuning&)) {
    Declaration<FineTuning> tuning(std::move(said));
    if (check_first) tuning.check(check_first);
    tuning.part(sft_axes());
    tuning.part(of_session());
    tuning.variants(&FineTuning::arm, arms);
    tuning.given(&FineTuning::state, &SampleSpec::state);
    tuning.given(&FineTuning::besides, [besides](const SampleSpec&) { return besides; });
    tuning.unsupported(
        [](const FineTuning& of) { return on_text(of) ? text_lacks() : std::nullopt; });
    tuning.inputs(
        [](const FineTuning& of) { return on_text(of) ? text_inputs() : std::vector<Input>(); });
    return tuning.runs(fine_tune_sample);
}

Experiment sft_perplexity() {
    Experiment experiment = fine_tuning(
        "sft_perplexity", "Perplexity of the target while a model is fine-tuned on other data",
        "arXiv 2605.07063v1, the figures of perplexity over steps");
    experiment.metrics = declared<EqualTimeFound>();
    experiment.profiles.push_back(smollm2_profile());
    return with_arms(std::move(experiment), sft_arms(), FineTuning::Besides::equal_time);
}

// At profile toy alone: no model answers the definitions of profile small word by word.
Experiment sft_downstream() {
    Experiment experiment = fine_tuning(
        "sft_downstream", "Target rows answered word for word after fine-tuning on other data",
        "arXiv 2605.07063v1, the tables of downstream scores");
    experiment.metrics = declared<EqualTimeFound>();
    sweep(experiment, "tuning", {"full", "lora", "meso"});
    draw_over(experiment, "tuning", "what is trained");
    experiment.figure.metric = "accuracy";
    experiment.figure.y_title = "share answered right";
    return with_arms(std::move(experiment), {"full", "global", "layer", "target"},
                     FineTuning::Besides::equal_time);
}

Experiment case_study() {
    Experiment experiment =
        fine_tuning("case_study", "Which rows the linear maps of a model choose",
                    "arXiv 2605.07063v1, the case study of layers");
    experiment.says += " Here, what each map chooses is compared with one choice for all maps.";
    experiment.metrics = declared<ChoicesFound>();
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "rank_correlation",
                         .x = "map",
                         .x_title = "linear map",
                         .y_title = "rank correlation with one choice for all"};
    return with_arms(std::move(experiment), {"layer"}, FineTuning::Besides::choices);
}

Experiment x_sets() {
    std::vector<std::string> arms{"full", "layer", "a_gem", "target"};
    arms.insert(arms.begin() + 2, set_arms().begin(), set_arms().end());
    return with_arms(
        ours("x_sets",
             "Sets beyond subsets, the nearest member for every map, beside A-GEM and target rows"),
        arms);
}

Experiment x_mix() {
    Experiment experiment = ours("x_mix", "Mixing target rows into the batch, or choosing by them");
    sweep(experiment, "m", {1, 4});
    draw_over(experiment, "m", "target rows of a step");
    return with_arms(std::move(experiment), {"mixing", "layer", "global", "full"});
}

Experiment x_scaling() {
    Experiment experiment =
        ours("x_scaling", "The released factor of similarities, and the right one");
    sweep(experiment, "rule", {"greedy"});
    sweep(experiment, "similarity", {"corrected", "as_published"});
    draw_over(experiment, "similarity", "factor of products of general rows");
    return with_arms(std::move(experiment), {"layer", "global"});
}

}  // namespace assay::dr_post_training
