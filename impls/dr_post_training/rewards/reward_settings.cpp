#include "impls/dr_post_training/rewards/reward_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "impls/dr_post_training/recipes/settings.hpp"
#include "impls/rl/tasks.hpp"
#include "suite/base/error.hpp"

namespace assay::dr_post_training {

RewardSettings reward_settings(const SampleSpec& spec) {
    RewardSettings settings;
    const std::string model = word_axis(spec, "model", "llama-toy");
    settings.model = toy_model(model);
    const bool tiny = model == "llama-tiny";
    settings.start_steps = tiny ? 20 : 1500;
    settings.rounds = tiny ? 2 : 40;
    settings.rates = {3e-5, 1e-4, 3e-4};
    if (tiny) {
        settings.rates = {3e-4};
        settings.questions = 2;
        settings.answers = 4;
        settings.rows_a_step = 4;
        settings.target_rows = 2;
        settings.test_questions = settings.validation_questions = 16;
    }
    settings.task = word_axis(spec, "task", settings.task);
    const auto& tasks = rl::task_names();
    if (std::find(tasks.begin(), tasks.end(), settings.task) == tasks.end())
        throw UserError(
            fmt::format("task {}: there are {}", settings.task, fmt::join(tasks, ", ")));
    if (settings.task == "reverse") settings.longest_prompt = 9;
    if (settings.task == "add") settings.longest_prompt = 5;
    if (spec.axes.contains("rounds")) settings.rounds = integer_axis(spec, "rounds", 1, 1'000'000);
    if (spec.axes.contains("n_val"))
        settings.target_prompts =
            static_cast<std::uint64_t>(integer_axis(spec, "n_val", 1, 1'000'000));
    if (const auto rate = rate_axis(spec)) settings.rates = {*rate};
    return settings;
}

}  // namespace assay::dr_post_training
