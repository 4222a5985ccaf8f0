#include "impls/dr_post_training/rewards/reward_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "impls/rl/tasks/questions.hpp"
#include "suite/base/error.hpp"

namespace assay::dr_post_training {

Axes<RewardAxes> reward_axes() {
    Axes<RewardAxes> axes;
    axes.axis(
        "model", &RewardAxes::model,
        "llama-toy: 0.2 M parameters on bytes, started here; llama-tiny: to see that it works",
        {"llama-toy", "llama-tiny"});
    axes.axis("task", &RewardAxes::task, "what is asked", {"close", "reverse", "add"});
    axes.axis("n_val", &RewardAxes::target_prompts, "prompts of the target there are",
              between(1, 1'000'000));
    axes.axis("rounds", &RewardAxes::rounds, "of drawing and updating", between(1, 1'000'000));
    axes.part(
        rate_axis("learning rate; grid: of three, the one with the highest accuracy on "
                  "validation questions"));
    axes.check([](const RewardAxes& reward) { reward_settings(reward); });
    return axes;
}

RewardSettings reward_settings(const RewardAxes& axes) {
    RewardSettings settings;
    settings.model = toy_model(axes.model);
    const bool tiny = axes.model == "llama-tiny";
    settings.start_steps = tiny ? 20 : 1500;
    settings.rounds = axes.rounds;
    settings.rates = rates_of(axes, tiny ? std::vector{3e-4} : std::vector{3e-5, 1e-4, 3e-4});
    if (tiny) {
        settings.questions = 2;
        settings.answers = 4;
        settings.rows_a_step = 4;
        settings.target_rows = 2;
        settings.test_questions = settings.validation_questions = 16;
    }
    settings.task = axes.task;
    settings.target_prompts = axes.target_prompts;
    const auto& tasks = rl::task_names();
    if (std::find(tasks.begin(), tasks.end(), settings.task) == tasks.end())
        throw UserError(
            fmt::format("task {}: there are {}", settings.task, fmt::join(tasks, ", ")));
    if (settings.task == "reverse") settings.longest_prompt = 9;
    if (settings.task == "add") settings.longest_prompt = 5;
    return settings;
}

}  // namespace assay::dr_post_training
