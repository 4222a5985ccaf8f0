// A sample of the fine-tuning experiments, in the module of tensors.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "impls/dr_post_training/experiments/shared_states.hpp"
#include "impls/dr_post_training/recipes/fine_tuning.hpp"
#include "impls/dr_post_training/recipes/text_rows.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/text/tokenizer.hpp"
#include "suite/drive/messages.hpp"

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
}

void record_kept(const SelectionLog& log, const SftFound& found) {
    found.kept_related(log.kept_related());
    found.kept_contrary(log.kept_contrary());
}

void record_study(const ChoiceStudy& study, const ChoicesFound& found) {
    for (const auto& [map, seen] : study.maps()) {
        found.mean_score(seen.mean_score, {{"map", map}});
        found.rank_correlation(seen.correlation, {{"map", map}});
        found.jaccard(seen.jaccard, {{"map", map}});
    }
    found.patterns(study.patterns());
    found.agreement(study.agreement());
}

void record_tuned(const Tuned& tuned, bool chosen_ahead, Recorder& recorder) {
    std::vector<double> perplexity;
    for (const double nll : tuned.test_nll) perplexity.push_back(std::exp(nll));
    recorder.time_series("target_perplexity", "per token", tuned.at_step, perplexity);
    // Of the rows that the arm learns from: of the target's under "target".
    recorder.time_series("loss", "nats per token", numbers_to(tuned.loss.size()), tuned.loss);
    const DelegatedFound found(recorder);
    found.perplexity(tuned.test.perplexity());
    found.perplexity_least(*std::min_element(perplexity.begin(), perplexity.end()));
    found.perplexity_at_start(perplexity.front());
    found.accuracy(tuned.test.exact_rows);
    found.rate(tuned.rate);
    if (tuned.trained_steps > 0)
        found.step_ms(1e3 * tuned.seconds / static_cast<double>(tuned.trained_steps));
    if (!tuned.selections.rows.empty()) record_selections(tuned.selections, recorder);
    if (chosen_ahead || !tuned.selections.rows.empty()) record_kept(tuned.selections, found);
    for (const auto& [arm, steps] : tuned.delegated) found.steps_as(steps, {{"arm", arm}});
}

/// What all arms of a seed start from.
struct Start {
    nn::Decoder base;
    SftRows rows;
};

Start trained_here(const SftSettings& settings, const FineTuning& tuning, Recorder& recorder) {
    const auto states = base_states(tuning, settings);
    const auto progress = [&](std::int64_t step, double nll) {
        recorder.progress(
            0.3 * static_cast<double>(step + 1) / static_cast<double>(settings.base_steps),
            fmt::format("base: step {}, {:.3f} nats per token", step + 1, nll));
    };
    return {base_model(settings, tuning.seed, *states, progress), SftRows(settings, tuning.seed)};
}

Start pretrained(SftSettings& settings, std::uint64_t seed) {
    const nn::TensorFile file(weights_file());
    const auto tokenizer = nn::Tokenizer::of(file);
    const auto text = std::make_shared<const TextRows>(read_text_rows(seed));
    auto base = nn::Decoder::load(file);
    for (auto& block : base.blocks()) block->freeze();  // copied, not trained
    const auto name = settings.model.name;
    settings.model = base.config();
    settings.model.name = name;
    const SftRows::Source source{[text, tokenizer, shape = settings.pool](std::uint64_t number) {
                                     const auto row = text->general_row(shape, number);
                                     return SftRows::Row{cut_row(row, tokenizer), row.kind};
                                 },
                                 [text, tokenizer](Use use, std::uint64_t number) {
                                     return cut_row(text->target_row(use, number), tokenizer);
                                 }};
    SftRows rows(settings, seed, source);
    return {std::move(base), std::move(rows)};
}

struct Diverged {
    double rate = 0;
    std::int64_t step = 0;
    std::string why;
};

/// One sample: an arm at every rate, and what became of it.
class ArmAtRates {
  public:
    ArmAtRates(const SftSettings& settings, const FineTuning& tuning, const Start& start,
               Recorder& recorder)
        : settings_(settings), tuning_(tuning), start_(start), recorder_(recorder) {}

    /// The one with the least loss on validation rows. Throws SampleError where all diverge.
    Tuned best() {
        extras_.prepared = prepare(tuning_.arm, settings_, start_.rows, start_.base, tuning_.seed);
        std::optional<nn::FolderState> states;
        if (settings_.checkpoint_every > 0 && !tuning_.state.empty())
            extras_.states = &states.emplace(tuning_.state);
        run();
        std::sort(diverged_.begin(), diverged_.end(),
                  [](const Diverged& a, const Diverged& b) { return a.rate < b.rate; });
        for (const Diverged& one : diverged_)
            recorder_.event("divergence", 0, -1,
                            {{"step", one.step}, {"rate", one.rate}, {"why", one.why}});
        extras_.states = nullptr;
        std::optional<Tuned> best;
        for (auto& tuned : tuned_)
            if (tuned && (!best || tuned->validation.nll_nats_per_token <
                                       best->validation.nll_nats_per_token))
                best = std::move(tuned);
        if (!best) throw SampleError(SampleStatus::failed, diverged_.back().why);
        return *std::move(best);
    }

    bool chosen_ahead() const { return !extras_.prepared.rows.empty(); }

    /// The same arm at the same rate, for as long as plain training takes.
    void record_equal_time(const Tuned& best) {
        const EqualTimeFound found(recorder_);
        const auto record = [&](const nn::RowEvaluation& test, double ratio, double steps) {
            found.perplexity_equal_time(test.perplexity());
            found.accuracy_equal_time(test.exact_rows);
            found.step_over_plain(ratio);
            found.steps_equal_time(steps);
        };
        if (tuning_.arm == "full")
            return record(best.test, 1, static_cast<double>(settings_.steps));
        const int turns = static_cast<int>(std::min<std::int64_t>(50, settings_.steps));
        const auto ratio = step_ratio(settings_, tuning_.arm, best.rate, start_.rows, start_.base,
                                      tuning_.seed, extras_.prepared, turns);
        if (best.trained_steps < settings_.steps)  // it stops by itself, long before
            return record(best.test, ratio.over_plain(), static_cast<double>(best.trained_steps));
        SftSettings in_time = settings_;
        in_time.steps = steps_in_equal_time(settings_, ratio, extras_.prepared.seconds);
        in_time.evaluations = 1;
        if (in_time.steps == 0) {
            nn::Maps plain;
            return record(nn::evaluate_rows(start_.base, plain, start_.rows.test()),
                          ratio.over_plain(), 0);
        }
        try {
            const auto tuned = fine_tune(in_time, tuning_.arm, best.rate, start_.rows, start_.base,
                                         tuning_.seed, {}, extras_);
            record(tuned.test, ratio.over_plain(), static_cast<double>(in_time.steps));
        } catch (const nn::TrainingDiverged& diverged) {
            recorder_.event("divergence", 0, -1,
                            {{"step", diverged.step()},
                             {"rate", best.rate},
                             {"why", diverged.what()},
                             {"steps", in_time.steps}});
        }
    }

  private:
    /// Rates side by side, each on a thread of its own: products here are too small for two.
    void run() {
        tuned_.resize(settings_.rates.size());
        std::vector<std::exception_ptr> errors(settings_.rates.size());
        std::atomic<std::size_t> next{0};
        const auto work = [&] {
            at::set_num_threads(settings_.threads);
            for (std::size_t i = next++; i < settings_.rates.size(); i = next++) try {
                    tune(i);
                } catch (...) {
                    errors[i] = std::current_exception();
                }
        };
        const std::size_t side_by_side = std::min<std::size_t>(
            settings_.rates.size(), std::max(1U, std::thread::hardware_concurrency()));
        std::vector<std::thread> threads;
        for (std::size_t i = 1; i < side_by_side; ++i) threads.emplace_back(work);
        work();
        for (auto& thread : threads) thread.join();
        for (const auto& error : errors)
            if (error) std::rethrow_exception(error);
    }

    void tune(std::size_t i) {
        const double rate = settings_.rates[i];
        const auto all =
            static_cast<double>(settings_.steps) * static_cast<double>(settings_.rates.size());
        const auto progress = [&](std::int64_t step, double nll) {
            const std::lock_guard lock(mutex_);
            recorder_.progress(0.3 + 0.7 * static_cast<double>(++steps_done_) / all,
                               fmt::format("rate {}: step {} of {}, {:.3f} nats per token", rate,
                                           step + 1, settings_.steps, nll));
        };
        const auto kept = tuned_states(tuning_, settings_, rate);
        Tuned tuned;
        const auto read = [&](std::istream& in) {
            tuned = drive::from_json<Tuned>(nlohmann::json::from_cbor(in));
        };
        try {
            if (!kept->load("tuned", read)) {
                tuned = fine_tune(settings_, tuning_.arm, rate, start_.rows, start_.base,
                                  tuning_.seed, progress, extras_);
                kept->save("tuned", [&](std::ostream& out) {
                    nlohmann::json::to_cbor(drive::to_json(tuned), out);
                });
            }
            tuned_[i] = std::move(tuned);
        } catch (const nn::TrainingDiverged& diverged) {
            const std::lock_guard lock(mutex_);
            diverged_.push_back({rate, diverged.step(), diverged.what()});
        }
    }

    const SftSettings& settings_;
    const FineTuning& tuning_;
    const Start& start_;
    Recorder& recorder_;
    FineTuningExtras extras_;
    std::vector<std::optional<Tuned>> tuned_;
    std::vector<Diverged> diverged_;
    std::mutex mutex_;
    std::int64_t steps_done_ = 0;
};

}  // namespace

void run(const FineTuning& tuning, Recorder& recorder) {
    SftSettings settings = sft_settings(tuning);
    // Bits depend on the number of threads. One is as fast for models so small, whose products are
    // over before another has begun.
    at::set_num_threads(settings.threads);
    const Start start = settings.pretrained() ? pretrained(settings, tuning.seed)
                                              : trained_here(settings, tuning, recorder);
    ArmAtRates arm(settings, tuning, start, recorder);
    const Tuned best = arm.best();
    record_tuned(best, arm.chosen_ahead(), recorder);
    using Besides = FineTuning::Besides;
    if (settings.equal_time && tuning.besides == Besides::equal_time) arm.record_equal_time(best);
    if (tuning.besides == Besides::choices)
        record_study(best.selections.study, ChoicesFound(recorder));
}

static const tensors::Provided provided_sft(fine_tune_sample, run);

}  // namespace assay::dr_post_training
