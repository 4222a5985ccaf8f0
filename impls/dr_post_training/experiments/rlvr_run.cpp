// A sample of rlvr, in the module of tensors.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "impls/dr_post_training/recipes/reward_tuning.hpp"
#include "impls/dr_post_training/tensor_functions.hpp"

namespace assay::dr_post_training {

void run_rlvr(const SampleSpec& spec, Recorder& recorder) {
    at::set_num_threads(1);  // rows are short: two threads are slower
    const RewardSettings settings = reward_settings(spec);
    const nn::Decoder start = started_policy(settings, spec.seed);
    recorder.progress(0.2, "started");
    const auto trained = train_by_reward(
        settings, spec.variant, spec.seed, start, [&](std::int64_t round, double reward) {
            recorder.progress(
                0.2 + 0.8 * static_cast<double>(round + 1) / static_cast<double>(settings.rounds),
                fmt::format("round {} of {}, reward {:.3f}", round + 1, settings.rounds, reward));
        });
    std::vector<double> rounds(trained.reward.size());
    std::iota(rounds.begin(), rounds.end(), 1.0);
    recorder.time_series("accuracy", "share", trained.at_round, trained.accuracy);
    recorder.time_series("reward", "mean of a round's answers", rounds, trained.reward);
    recorder.time_series("kept", "share of rows", rounds, trained.kept);
    recorder.metric("accuracy", trained.accuracy.back());
    recorder.metric("accuracy_at_start", trained.accuracy.front());
    recorder.metric("accuracy_best",
                    *std::max_element(trained.accuracy.begin(), trained.accuracy.end()));
    recorder.metric("accuracy_early", trained.early_accuracy);
    recorder.metric("kept", std::accumulate(trained.kept.begin(), trained.kept.end(), 0.0) /
                                static_cast<double>(trained.kept.size()));
    recorder.metric("drawn_tokens", trained.drawn_tokens);
    recorder.metric("round_ms", 1e3 * trained.seconds / static_cast<double>(settings.rounds));
}

}  // namespace assay::dr_post_training
