#include "impls/lte/experiments/training_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/base/error.hpp"
#include "suite/data/catalog.hpp"

namespace assay::lte {
namespace {

/// A text that can never be had: better said before anything runs.
void check_corpus(const std::string& name) {
    if (names_a_file(name)) return;
    const auto known = data::catalog();
    if (std::any_of(known.begin(), known.end(),
                    [&](const data::Entry& entry) { return entry.id == name; }))
        return;
    throw UserError(fmt::format(
        "corpus {}: neither a text of `assay data list` nor a path (with a / or a .)", name));
}

void check(const Training& training) {
    check_corpus(training.corpus);
    sizes_of(training);
    const double sparsity = training.sparsity;
    if (!(sparsity >= 0 && sparsity < 1))
        throw UserError(fmt::format("sparsity {}: a share from 0 to below 1", sparsity));
    const std::string_view name = to_string(training.competitor);
    if ((name.ends_with("_2_4") || name.ends_with("_4_8")) && sparsity != 0.5)
        throw UserError(
            fmt::format("sparsity {}: 2:4 and 4:8 patterns remove half; leave these "
                        "variants out or ask for 0.5",
                        sparsity));
}

/// For `given`, of an axis whose first value is not what a case means that leaves it out.
template <class Member>
auto if_named(const std::string& axis) {
    return [axis](const SampleSpec& spec) -> std::optional<Member> {
        const auto found = spec.axes.find(axis);
        if (found == spec.axes.end()) return std::nullopt;
        return axis_values::read<Member>(axis, found->second);
    };
}

}  // namespace

Axes<Training> sparsity_axis(const std::vector<double>& values) {
    Axes<Training> axes;
    axes.axis("sparsity", &Training::sparsity,
              "share of the feed-forward neurons to leave out; ffn_sparsity is what came of it",
              values, or_others);
    return axes;
}

Axes<Separated> lambda_axis(const std::vector<double>& values) {
    Axes<Separated> axes;
    axes.axis("lambda", &Separated::lambda, "weight of the separability loss", values,
              between(0, 1e6));
    return axes;
}

Axes<Training> steps_axis(std::string says, std::int64_t steps) {
    Axes<Training> axes;
    axes.axis(
        "steps", [](Training& training) -> std::int64_t& { return training.steps.emplace(); },
        std::move(says), {steps}, between(0, 1'000'000'000));
    axes.given(&Training::steps, if_named<std::int64_t>("steps"));
    return axes;
}

Axes<Training> training_axes(const std::vector<std::string>& models) {
    Axes<Training> axes;
    axes.axis("model", &Training::model,
              "gpt-*: GELU, GPT-2's shape; llama-*: SwiGLU; tiny: 0.1 M, toy: 1 M, 5m: "
              "5 M parameters, on bytes; smollm2: pretrained; a path: a model file of your own",
              models, or_others);
    axes.axis("corpus", &Training::corpus,
              "text to train and test on, an id of `assay data` or a path",
              {"bible-kjv", "dict-gcide"}, or_others);
    axes.given(&Training::profile, &SampleSpec::profile);
    axes.given(&Training::seed, &SampleSpec::seed);
    axes.given(&Training::state, &SampleSpec::state);
    axes.given(&Training::shared, &SampleSpec::shared);
    axes.check(check);
    return axes;
}

Axes<Training> recipe_axis() {
    Axes<Training> axes;
    axes.axis(
        "recipe", [](Training& training) -> Recipe& { return training.recipe.emplace(); },
        "how LTE's routers train: fast, at 2.5e-3 and before the norm's gain (what x_routers "
        "found); as_is, at the decoder's rate behind it, as older samples did");
    axes.given(&Training::recipe, if_named<Recipe>("recipe"));
    return axes;
}

std::vector<ProfilePlan> training_profiles(std::map<std::string, std::vector<Value>> toy_axes,
                                           int toy_rounds, double toy_seconds_per_sample) {
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.axes = std::move(toy_axes);
    toy.axes.try_emplace("corpus", std::vector<Value>{"bible-kjv"});
    toy.rounds = toy_rounds;
    toy.seconds_per_sample = toy_seconds_per_sample;
    toy.bytes_per_sample = 60e3;
    toy.timeout_s = 3600;
    toy.side_by_side = true;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    small.side_by_side = false;  // its samples use all processors
    small.axes.clear();
    small.rounds = 3;
    small.seconds_per_sample = 5 * toy_seconds_per_sample;
    small.timeout_s = 6 * 3600;
    ProfilePlan gpu = small;
    gpu.profile = Profile::gpu;
    gpu.axes = {{"model", {"gpt-5m", "llama-5m", "smollm2"}}};
    gpu.seconds_per_sample = 600;  // assumed: nobody has timed it yet
    return {toy, small, gpu};
}

Figure perplexity_figure() {
    return {.kind = Figure::Kind::lines,
            .metric = "perplexity",
            .x = "sparsity",
            .panels = {"model", "corpus"},
            .x_title = "sparsity asked for",
            .y_title = "perplexity per byte"};
}

std::optional<std::string> training_unsupported(const Training& training) {
    // Only libtorch knows whether it can use the GPU.
    if (training.profile == Profile::gpu) return training_lacks(training);
    return materials_lack(training);
}

}  // namespace assay::lte
