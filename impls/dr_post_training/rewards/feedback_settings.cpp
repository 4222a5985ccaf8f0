#include "impls/dr_post_training/rewards/feedback_settings.hpp"

namespace assay::dr_post_training {

const std::vector<std::string>& feedback_arms() {
    static const std::vector<std::string> arms{"ppo", "iif", "layer", "global"};
    return arms;
}

Axes<FeedbackAxes> feedback_axes() {
    Axes<FeedbackAxes> axes;
    axes.axis(
        "model", &FeedbackAxes::model,
        "llama-toy: 0.2 M parameters on bytes, started here; llama-tiny: to see that it works",
        {"llama-toy", "llama-tiny"});
    axes.axis("target", &FeedbackAxes::target,
              "whose answers steer: those of the rollout itself, or answers to 1024 other prompts");
    axes.axis("direction", &FeedbackAxes::direction,
              "by which loss they steer: mean log-probability times the normalised reward; tokens' "
              "times their advantages; PPO's own");
    axes.axis("rounds", &FeedbackAxes::rounds, "of drawing and updating", between(1, 1'000'000));
    axes.part(
        rate_axis("learning rate; grid: of three, the one with the highest reward on "
                  "validation prompts"));
    axes.check([](const FeedbackAxes& feedback) { feedback_settings(feedback); });
    return axes;
}

FeedbackSettings feedback_settings(const FeedbackAxes& axes) {
    FeedbackSettings settings;
    settings.model = toy_model(axes.model);
    settings.reward_model = toy_model("llama-tiny");
    settings.judge = toy_model("llama-tiny");
    settings.judge.layers = 1;
    settings.judge.hidden *= 2;
    if (axes.model == "llama-tiny") {  // to see that it works, in a second
        settings.start_steps = 40;
        settings.reward_steps = 40;
        settings.prompts = 8;
        settings.rows_a_step = 4;
        settings.epochs = 2;
        settings.target_rows = 4;
        settings.test_prompts = settings.validation_prompts = 16;
        settings.rates = {1e-3};
    } else {
        settings.start_steps = 300;
        settings.reward_steps = 200;
        settings.rates = {3e-4, 1e-3, 3e-3};
    }
    settings.rounds = axes.rounds;
    settings.target = axes.target;
    settings.direction = axes.direction;
    settings.rates = rates_of(axes, std::move(settings.rates));
    return settings;
}

}  // namespace assay::dr_post_training
