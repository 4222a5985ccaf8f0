// What the declarations of the experiments that train models have in common: axes, profiles,
// figure. trainings.hpp has their settings.
#pragma once

#include <concepts>
#include <map>
#include <string>
#include <vector>

#include "impls/lte/experiments/trainings.hpp"
#include "suite/experiment/declaration.hpp"

namespace assay::lte {

/// What is asked for; each sample's `ffn_sparsity` says what was reached.
Axes<Training> sparsity_axis(const std::vector<double>& values);
Axes<Separated> lambda_axis(const std::vector<double>& values);
Axes<Training> steps_axis(std::string says, std::int64_t steps);

/// Profiles toy, small and gpu. `toy_axes` narrows the sweep at toy; at small every axis is swept
/// whole, with three seeds and five times the training; at gpu models of five million parameters
/// and SmolLM2 train on the first GPU, for longer still (recipes/materials.cpp).
std::vector<ProfilePlan> training_profiles(std::map<std::string, std::vector<Value>> toy_axes,
                                           int toy_rounds, double toy_seconds_per_sample);

/// Perplexity over sparsity.
Figure perplexity_figure();

// Parts of add_training() and add_recipe().
Axes<Training> training_axes(const std::vector<std::string>& models);
Axes<Training> recipe_axis();
/// Without what training_lacks.lacks() says.
std::optional<std::string> training_unsupported(const Training& training);

/// Axes model and corpus, what a sample needs and reads, and what of it is refused.
template <std::derived_from<Training> Settings>
void add_training(Declaration<Settings>& declaration,
                  const std::vector<std::string>& models = {"gpt-toy", "llama-toy"}) {
    declaration.part(training_axes(models));
    declaration.needs(training_lacks);
    declaration.unsupported(training_unsupported);
    declaration.inputs(material_inputs);
}

/// Axis "recipe" of those that train LTE with our schedule. It is named in every case, so that no
/// sample of one recipe is taken for another's: all profiles, which must be there, run `fast`.
template <std::derived_from<Training> Settings>
void add_recipe(Declaration<Settings>& declaration) {
    declaration.part(recipe_axis());
    for (ProfilePlan& plan : declaration.rest.profiles) plan.axes["recipe"] = {"fast"};
}

}  // namespace assay::lte
