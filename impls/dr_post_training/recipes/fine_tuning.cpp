#include "impls/dr_post_training/recipes/fine_tuning.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "impls/rl/recipes/update.hpp"
#include "suite/drive/messages.hpp"

namespace assay::dr_post_training {
namespace {

constexpr std::uint64_t base_seed_offset = 1000;
constexpr std::int64_t most_times_as_many = 4;
constexpr double beta2 = 0.999;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
    return std::chrono::duration<double>(Clock::now() - began).count();
}

double bits_of(const std::vector<Kind>& kinds, Kind kind) {
    double bits = 0;
    for (std::size_t b = 0; b < kinds.size(); ++b)
        if (kinds[b] == kind) bits += std::ldexp(1.0, static_cast<int>(b));
    return bits;
}

/// Adds the decisions of a step.
void log_step(const std::map<std::string, SelectingMaps::Decision>& decisions,
              const std::vector<Kind>& kinds, SelectionLog& log) {
    std::map<std::string, MapChoice> choices;
    for (const auto& [group, decision] : decisions) {
        MapChoice& choice = choices[group];
        choice.scores = decision.ranks_by;
        double bits = 0, magnitude = 0;
        const auto& weights = decision.update.weights;
        for (std::size_t b = 0; b < weights.size(); ++b) {
            magnitude += std::abs(decision.ranks_by[b]) / static_cast<double>(kinds.size());
            if (weights[b] == 0) continue;
            bits += std::ldexp(1.0, static_cast<int>(b));
            choice.rows.insert(b);
            log.kept.rows += 1;
            log.kept.related += kinds[b] == Kind::related;
            log.kept.contrary += kinds[b] == Kind::contrary;
        }
        log.rows[group].push_back(bits);
        log.mean_scores[group].push_back(magnitude);
    }
    log.study.add(choices);
    log.related.push_back(bits_of(kinds, Kind::related));
    log.contrary.push_back(bits_of(kinds, Kind::contrary));
}

nn::TrainingOptions training_options(const SftSettings& settings, double rate) {
    nn::TrainingOptions options;  // section 3.1
    options.steps = settings.steps;
    options.learning_rate = rate;
    options.warmup = 0.03;
    options.decay_to_zero = true;
    options.beta2 = beta2;
    options.diverged = 1e9;  // fitting contrary rows is what is to be seen, and raises the loss
    return options;
}

}  // namespace

nn::Decoder base_model(const SftSettings& settings, std::uint64_t seed, nn::StateKeeper& states,
                       const Progress& progress) {
    nn::Decoder decoder(settings.model, seed);
    nn::TrainingOptions options;
    options.steps = settings.base_steps;
    options.learning_rate = settings.base_rate;
    options.decay_to_zero = true;
    nn::TrainingCallbacks callbacks;
    const StepModel model{decoder, at::kFloat, LossMean::token, {}};
    std::unique_ptr<TrainingStep> current;
    callbacks.loss = [&](std::int64_t step) {
        std::vector<nn::ScoredRow> rows;
        for (std::size_t slot = 0; slot < settings.base_rows; ++slot)
            rows.push_back(
                scored(known_row(seed + base_seed_offset,
                                 static_cast<std::uint64_t>(step) * settings.base_rows + slot)));
        current = plain_step(model, rows);
        return nn::TrainingStep{at::scalar_tensor(current->loss(), at::kDouble), current->loss()};
    };
    callbacks.backward = [&](std::int64_t, const nn::TrainingStep&) { current->backward(); };
    callbacks.after = [&](std::int64_t step, const nn::TrainingStep& done) {
        if (progress) progress(step, done.task_loss);
    };
    nn::train("base", rl::blocks_of(decoder), options, callbacks, states, 0);
    for (const auto& block : decoder.blocks()) {  // as one that was kept, which is only values
        block->zero_grad();
        block->zero_moments();
    }
    return decoder;
}

Tuned fine_tune(const SftSettings& settings, std::string_view arm_name, double rate,
                const SftRows& rows, const nn::Decoder& base, std::uint64_t seed,
                const Progress& progress, const FineTuningExtras& extras) {
    Trainee trainee(arm_name, settings, rate, rows, base, seed, extras.prepared);
    Arm& arm = *trainee.arm;
    Tuning& tuning = *trainee.tuning;
    const auto blocks = tuning.blocks();
    const auto compute = settings.bf16 ? at::kBFloat16 : at::kFloat;

    Tuned tuned;
    tuned.rate = rate;
    nn::Maps plain;
    const auto evaluated = [&](const std::vector<nn::ScoredRow>& on) {
        const auto learnt = tuning.learnt(plain);
        return nn::evaluate_rows(trainee.decoder, *learnt, on, compute,
                                 settings.evaluated_at_once());
    };
    const auto evaluate_at = [&](std::int64_t step) {
        tuned.test = evaluated(rows.test());
        tuned.at_step.push_back(static_cast<double>(step));
        tuned.test_nll.push_back(tuned.test.nll_nats_per_token);
    };

    Clock::time_point began;
    SftRows::General general;
    std::unique_ptr<TrainingStep> current;
    bool stopped = false;
    std::vector<at::Tensor> held;  // the values of an arm that has stopped
    nn::TrainingCallbacks callbacks;
    callbacks.loss = [&](std::int64_t step) {
        if (step == 0) evaluate_at(0);
        began = Clock::now();
        general = rows.general(step);
        tuning.begin(step);
        current = arm.step(step, general);
        if (!current && !stopped) {
            stopped = true;
            for (const auto& [block, factor] : blocks) held.push_back(block->values().clone());
        }
        const double loss = current ? current->loss() : tuned.loss.back();
        return nn::TrainingStep{at::scalar_tensor(loss, at::kDouble), loss};
    };
    callbacks.backward = [&](std::int64_t step, const nn::TrainingStep& done) {
        try {
            if (current) current->backward();
        } catch (const NotFinite& bad) {
            throw nn::TrainingDiverged(step, done.task_loss,
                                       fmt::format("{} at step {}", bad.what(), step));
        }
    };
    callbacks.after = [&](std::int64_t step, const nn::TrainingStep& done) {
        if (stopped)  // momentum would go on
            for (std::size_t i = 0; i < held.size(); ++i) blocks[i].block->values().copy_(held[i]);
        tuning.updated();
        current.reset();
        if (!stopped) {
            tuned.seconds += seconds_since(began);
            ++tuned.trained_steps;
        }
        tuned.loss.push_back(done.task_loss);
        if (arm.decisions()) log_step(*arm.decisions(), general.kinds, tuned.selections);
        const auto done_steps = step + 1;
        const auto every = std::max<std::int64_t>(1, settings.steps / settings.evaluations);
        if (done_steps % every == 0 || done_steps == settings.steps) evaluate_at(done_steps);
        if (progress) progress(step, done.task_loss);
    };
    callbacks.save_extra = [&] { return drive::to_json(tuned); };
    callbacks.load_extra = [&](const nlohmann::json& extra) {
        tuned = drive::from_json<Tuned>(extra);
    };
    nn::NoState none;
    const bool keeps = extras.states && tuning.resumable();
    nn::train(std::string(arm_name), blocks, training_options(settings, rate), callbacks,
              keeps ? *extras.states : none, keeps ? settings.checkpoint_every : 0);
    if (tuned.test.rows == 0) tuned.test = evaluated(rows.test());  // went on at its very end
    tuned.validation = evaluated(rows.validation());
    tuned.delegated = arm.delegated();
    auto& kept = tuned.selections.kept;
    if (kept.rows == 0 && !extras.prepared.rows.empty())  // shares are what is known of them
        kept = {1, extras.prepared.related, extras.prepared.contrary};
    return tuned;
}

StepRatio step_ratio(const SftSettings& settings, std::string_view arm, double rate,
                     const SftRows& rows, const nn::Decoder& base, std::uint64_t seed,
                     const Preparation& prepared, int turns) {
    Trainee plain("full", settings, rate, rows, base, seed);
    Trainee other(arm, settings, rate, rows, base, seed, prepared);
    const nn::AdamOptions adam{rate, 0.9, beta2, 1e-8};
    rl::Updater of_plain(plain.tuning->blocks(), 1, adam),
        of_other(other.tuning->blocks(), 1, adam);
    const auto timed = [&](Trainee& trainee, rl::Updater& updater) {
        const auto began = Clock::now();
        const auto step = updater.updates();
        const auto general = rows.general(step);
        trainee.tuning->begin(step);
        updater.update([&] {
            if (const auto current = trainee.arm->step(step, general)) current->backward();
        });
        trainee.tuning->updated();
        return seconds_since(began);
    };
    StepRatio sums{.turns = turns};
    for (int turn = 0; turn < turns; ++turn) {
        for (const bool first : {true, false}) {
            if ((turn % 2 == 0) == first)
                sums.plain_s += timed(plain, of_plain);
            else
                sums.arm_s += timed(other, of_other);
        }
    }
    return sums;
}

std::int64_t steps_in_equal_time(const SftSettings& settings, const StepRatio& ratio,
                                 double preparation_s) {
    const double turns = ratio.turns;
    const double left = static_cast<double>(settings.steps) * ratio.plain_s / turns - preparation_s;
    const double steps = std::round(left / (ratio.arm_s / turns));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(steps), 0,
                                    most_times_as_many * settings.steps);
}

}  // namespace assay::dr_post_training
