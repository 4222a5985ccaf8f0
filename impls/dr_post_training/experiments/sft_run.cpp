// A sample of the fine-tuning experiments, in the module of tensors.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "impls/dr_post_training/experiments/shared_states.hpp"
#include "impls/dr_post_training/recipes/fine_tuning.hpp"
#include "impls/dr_post_training/tensor_functions.hpp"

namespace assay::dr_post_training {
namespace {

std::vector<double> numbers_to(std::size_t count) {
    std::vector<double> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<double>(i);
    return numbers;
}

void record_selections(const SelectionLog& log, Recorder& recorder) {
    const auto steps = numbers_to(log.related.size());
    for (const auto& [group, bits] : log.rows) {
        recorder.time_series("selected", "rows as bits", steps, bits, {{"group", group}});
        recorder.time_series("score", "mean magnitude", steps, log.mean_scores.at(group),
                             {{"group", group}});
    }
    recorder.time_series("related_rows", "rows as bits", steps, log.related);
    recorder.time_series("contrary_rows", "rows as bits", steps, log.contrary);
    recorder.metric("kept_related", log.kept_related);
    recorder.metric("kept_contrary", log.kept_contrary);
}

void record_study(const ChoiceStudy& study, Recorder& recorder) {
    for (const auto& [map, found] : study.maps()) {
        recorder.metric("mean_score", found.mean_score, {{"map", map}});
        recorder.metric("rank_correlation", found.correlation, {{"map", map}});
        recorder.metric("jaccard", found.jaccard, {{"map", map}});
    }
    recorder.metric("patterns", study.patterns());
    recorder.metric("agreement", study.agreement());
}

void record_tuned(const Tuned& tuned, Recorder& recorder) {
    std::vector<double> perplexity;
    for (const double nll : tuned.test_nll) perplexity.push_back(std::exp(nll));
    recorder.time_series("target_perplexity", "per token", tuned.at_step, perplexity);
    // Of the rows that the arm learns from: of the target's under "target".
    recorder.time_series("loss", "nats per token", numbers_to(tuned.loss.size()), tuned.loss);
    recorder.metric("perplexity", tuned.test.perplexity());
    recorder.metric("perplexity_least", *std::min_element(perplexity.begin(), perplexity.end()));
    recorder.metric("perplexity_at_start", perplexity.front());
    recorder.metric("accuracy", tuned.test.exact_rows);
    recorder.metric("rate", tuned.rate);
    recorder.metric("step_ms", 1e3 * tuned.seconds / static_cast<double>(tuned.trained_steps));
    if (!tuned.selections.rows.empty()) record_selections(tuned.selections, recorder);
    for (const auto& [arm, steps] : tuned.delegated)
        recorder.metric("steps_as", static_cast<double>(steps), {{"arm", arm}});
}

}  // namespace

void run_sft(const SampleSpec& spec, Recorder& recorder) {
    // Bits depend on the number of threads. One is as fast for models so small, whose products are
    // over before another has begun.
    at::set_num_threads(1);
    const SftSettings settings = sft_settings(spec);
    const auto states = base_states(spec, settings);
    const nn::Decoder base =
        base_model(settings, spec.seed, *states, [&](std::int64_t step, double nll) {
            recorder.progress(
                0.3 * static_cast<double>(step + 1) / static_cast<double>(settings.base_steps),
                fmt::format("base: step {}, {:.3f} nats per token", step + 1, nll));
        });
    const SftRows rows(settings, spec.seed);
    std::optional<Tuned> best;
    std::string why;
    for (std::size_t i = 0; i < settings.rates.size(); ++i) {
        const double rate = settings.rates[i];
        try {
            Tuned tuned = fine_tune(
                settings, spec.variant, rate, rows, base, spec.seed,
                [&](std::int64_t step, double nll) {
                    const double done =
                        (static_cast<double>(i) +
                         static_cast<double>(step + 1) / static_cast<double>(settings.steps)) /
                        static_cast<double>(settings.rates.size());
                    recorder.progress(0.3 + 0.7 * done,
                                      fmt::format("rate {}: step {} of {}, {:.3f} nats per token",
                                                  rate, step + 1, settings.steps, nll));
                });
            if (!best || tuned.validation.nll_nats_per_token < best->validation.nll_nats_per_token)
                best = std::move(tuned);
        } catch (const nn::TrainingDiverged& diverged) {
            why = diverged.what();
            recorder.event("divergence", 0, -1,
                           {{"step", diverged.step()}, {"rate", rate}, {"why", why}});
        }
    }
    if (!best) throw SampleError(SampleStatus::failed, why);
    record_tuned(*best, recorder);
    if (spec.experiment.ends_with("/case_study")) record_study(best->selections.study, recorder);
}

}  // namespace assay::dr_post_training
