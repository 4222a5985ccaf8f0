// Samples of rlvr and rlhf, in the module of tensors.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "impls/dr_post_training/experiments/shared_states.hpp"
#include "impls/dr_post_training/rewards/feedback_tuning.hpp"
#include "impls/dr_post_training/rewards/reward_tuning.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::dr_post_training {
namespace {

constexpr double start_share = 0.2;  // of a sample's progress

/// The training of the rate with which validation ends highest; of equal ones the first. A rate
/// whose gradients are not finite is an event.
template <typename Train>
auto best_of(const std::vector<double>& rates, Recorder& recorder, const Train& train) {
    std::optional<decltype(train(0.0, 0.0, 0.0))> best;
    std::string why;
    for (std::size_t i = 0; i < rates.size(); ++i) {
        const double each = (1 - start_share) / static_cast<double>(rates.size());
        try {
            auto trained = train(rates[i], start_share + each * static_cast<double>(i), each);
            if (!best || trained.validation > best->validation) best = std::move(trained);
        } catch (const UserError&) {
            throw;
        } catch (const SampleError&) {
            throw;
        } catch (const std::runtime_error& diverged) {
            why = diverged.what();
            recorder.event("divergence", 0, -1, {{"rate", rates[i]}, {"why", why}});
        }
    }
    if (!best) throw SampleError(SampleStatus::failed, why);
    return std::move(*best);
}

std::vector<double> rounds_of(std::size_t count) {
    std::vector<double> rounds(count);
    std::iota(rounds.begin(), rounds.end(), 1.0);
    return rounds;
}

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// What follows the rounds of either training.
std::function<void(std::int64_t, double)> progress_of(Recorder& recorder, double rate,
                                                      std::int64_t rounds, double from,
                                                      double share) {
    return [=, &recorder](std::int64_t round, double reward) {
        recorder.progress(
            from + share * static_cast<double>(round + 1) / static_cast<double>(rounds),
            fmt::format("rate {}: round {} of {}, reward {:.3f}", rate, round + 1, rounds, reward));
    };
}

void run(const Rlvr& rlvr, Recorder& recorder) {
    at::set_num_threads(1);  // rows are short: two threads are slower
    const RewardSettings settings = reward_settings(rlvr);
    const auto states = shared_states(
        rlvr, fmt::format("dr_post_training rewards {} {} {} {} {}", settings.model.name,
                          settings.task, settings.start_steps, settings.start_accuracy, rlvr.seed));
    const nn::Decoder start = started_policy(settings, rlvr.seed, *states);
    recorder.progress(start_share, "started");
    const auto trained =
        best_of(settings.rates, recorder, [&](double rate, double from, double share) {
            return train_by_reward(settings, rlvr.arm, rate, rlvr.seed, start,
                                   progress_of(recorder, rate, settings.rounds, from, share));
        });
    const auto rounds = rounds_of(trained.reward.size());
    recorder.time_series("accuracy", "share", trained.at_round, trained.accuracy);
    recorder.time_series("reward", "mean of a round's answers", rounds, trained.reward);
    recorder.time_series("kept", "share of rows", rounds, trained.kept);
    const RlvrFound found(recorder);
    found.accuracy(trained.accuracy.back());
    found.accuracy_at_start(trained.accuracy.front());
    found.accuracy_best(*std::max_element(trained.accuracy.begin(), trained.accuracy.end()));
    found.accuracy_early(trained.early_accuracy);
    found.accuracy_mean(mean_of(trained.accuracy));
    found.kept(mean_of(trained.kept));
    found.undecided(mean_of(trained.undecided));
    found.drawn_tokens(trained.drawn_tokens);
    found.rate(trained.rate);
    found.round_ms(1e3 * trained.seconds / static_cast<double>(settings.rounds));
}

void run(const Rlhf& rlhf, Recorder& recorder) {
    at::set_num_threads(1);
    const FeedbackSettings settings = feedback_settings(rlhf);
    const auto states = shared_states(
        rlhf, fmt::format("dr_post_training feedback {} {} {} {}", settings.model.name,
                          settings.start_steps, settings.reward_steps, rlhf.seed));
    const FeedbackStart start = feedback_start(settings, rlhf.seed, *states);
    recorder.progress(start_share, "started");
    const auto trained =
        best_of(settings.rates, recorder, [&](double rate, double from, double share) {
            return train_by_feedback(settings, rlhf.arm, rate, rlhf.seed, start,
                                     progress_of(recorder, rate, settings.rounds, from, share));
        });
    const auto rounds = rounds_of(trained.reward.size());
    const auto curve = [&](const char* name, const char* unit, double Manners::*of) {
        std::vector<double> values;
        for (const Manners& manners : trained.manners) values.push_back(manners.*of);
        recorder.time_series(name, unit, trained.at_round, values);
    };
    curve("judged", "share of answers", &Manners::judged);
    curve("offends", "share of answers", &Manners::offends);
    curve("test_reward", "mean", &Manners::reward);
    curve("letters", "mean", &Manners::letters);
    recorder.time_series("reward", "mean of a round's answers", rounds, trained.reward);
    recorder.time_series("divergence", "nats an answer", rounds, trained.divergence);
    recorder.time_series("kept", "share of rows", rounds, trained.kept);
    const Manners& last = trained.manners.back();
    double judged = 0;
    for (const Manners& manners : trained.manners)
        judged += manners.judged / static_cast<double>(trained.manners.size());
    const RlhfFound found(recorder);
    found.reward(last.reward);
    found.judged(last.judged);
    found.judged_mean(judged);
    found.judged_at_start(trained.manners.front().judged);
    found.offends(last.offends);
    found.letters(last.letters);
    found.rounds_to_half(rounds_to_half(trained));
    found.divergence(trained.divergence.back());
    found.kl(trained.kl.back());
    found.kept(mean_of(trained.kept));
    found.drawn_tokens(trained.drawn_tokens);
    found.rate(trained.rate);
    found.pairs_right(start.pairs_right);
    found.labels_right(start.labels_right);
    found.round_ms(1e3 * trained.seconds / static_cast<double>(settings.rounds));
}

const tensors::Provided provided_rlvr(train_rlvr, run), provided_rlhf(train_rlhf, run);

}  // namespace
}  // namespace assay::dr_post_training
