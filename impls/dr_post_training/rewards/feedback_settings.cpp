#include "impls/dr_post_training/rewards/feedback_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "impls/dr_post_training/recipes/settings.hpp"
#include "suite/base/error.hpp"

namespace assay::dr_post_training {
namespace {

std::string one_of(const SampleSpec& spec, const char* axis,
                   const std::vector<std::string>& words) {
    const std::string word = word_axis(spec, axis, words.front());
    for (const std::string& known : words)
        if (word == known) return word;
    throw UserError(fmt::format("{} {}: there are {}", axis, word, fmt::join(words, ", ")));
}

}  // namespace

const std::vector<std::string>& feedback_arms() {
    static const std::vector<std::string> arms{"ppo", "iif", "layer", "global"};
    return arms;
}

FeedbackSettings feedback_settings(const SampleSpec& spec) {
    FeedbackSettings settings;
    const std::string model = word_axis(spec, "model", "llama-toy");
    settings.model = toy_model(model);
    settings.reward_model = toy_model("llama-tiny");
    settings.judge = toy_model("llama-tiny");
    settings.judge.layers = 1;
    settings.judge.hidden *= 2;
    if (model == "llama-tiny") {  // to see that it works, in a second
        settings.start_steps = 40;
        settings.reward_steps = 40;
        settings.rounds = 2;
        settings.prompts = 8;
        settings.rows_a_step = 4;
        settings.epochs = 2;
        settings.target_rows = 4;
        settings.test_prompts = settings.validation_prompts = 16;
        settings.rates = {1e-3};
    } else {
        settings.start_steps = 300;
        settings.reward_steps = 200;
        settings.rounds = 8;
        settings.rates = {3e-4, 1e-3, 3e-3};
    }
    if (spec.axes.contains("rounds")) settings.rounds = integer_axis(spec, "rounds", 1, 1'000'000);
    settings.target = one_of(spec, "target", {"self", "held_out"});
    settings.direction = one_of(spec, "direction", {"reward", "token_pg", "train_loss"});
    if (const auto rate = rate_axis(spec)) settings.rates = {*rate};
    return settings;
}

}  // namespace assay::dr_post_training
