#include "impls/dr_post_training/recipes/fine_tuning.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>

#include "impls/dr_post_training/recipes/arms.hpp"
#include "impls/nn/hashes.hpp"
#include "impls/rl/update.hpp"

namespace assay::dr_post_training {
namespace {

constexpr std::uint64_t pool_rows = 20'000;  // as many as the pool has
// Streams of draws.
constexpr std::uint64_t general_stream = 1, target_stream = 2, target_batch_stream = 3;
constexpr std::uint64_t base_seed_offset = 1000;

nn::ScoredRow scored(const PoolRow& row) {
    static const nn::Tokenizer bytes = nn::Tokenizer::bytes();
    return nn::answered_prompt(row.prompt, row.answer, bytes);
}

std::uint64_t draw(std::uint64_t seed, std::uint64_t stream, std::int64_t step, std::size_t slot) {
    return nn::counter_hash(nn::counter_hash(seed * 8 + stream) ^
                            nn::counter_hash(static_cast<std::uint64_t>(step) * 4096 + slot));
}

std::vector<nn::ScoredRow> rows_for(Use use, std::uint64_t seed, std::size_t count) {
    std::vector<nn::ScoredRow> rows;
    for (std::size_t number = 0; number < count; ++number)
        rows.push_back(scored(target_row(use, seed, number)));
    return rows;
}

double bits_of(const std::vector<Kind>& kinds, Kind kind) {
    double bits = 0;
    for (std::size_t b = 0; b < kinds.size(); ++b)
        if (kinds[b] == kind) bits += std::ldexp(1.0, static_cast<int>(b));
    return bits;
}

/// Adds the decisions of a step. `kept` counts rows of all groups: all, related, contrary.
void log_step(const std::map<std::string, SelectingMaps::Decision>& decisions,
              const std::vector<Kind>& kinds, SelectionLog& log, std::array<double, 3>& kept) {
    std::map<std::string, MapChoice> choices;
    for (const auto& [group, decision] : decisions) {
        MapChoice& choice = choices[group];
        choice.scores = decision.statistics.target.scores;
        double bits = 0, magnitude = 0;
        const auto& weights = decision.update.weights;
        for (std::size_t b = 0; b < weights.size(); ++b) {
            magnitude +=
                std::abs(decision.statistics.target.scores[b]) / static_cast<double>(kinds.size());
            if (weights[b] == 0) continue;
            bits += std::ldexp(1.0, static_cast<int>(b));
            choice.rows.insert(b);
            kept[0] += 1;
            kept[1] += kinds[b] == Kind::related;
            kept[2] += kinds[b] == Kind::contrary;
        }
        log.rows[group].push_back(bits);
        log.mean_scores[group].push_back(magnitude);
    }
    log.study.add(choices);
    log.related.push_back(bits_of(kinds, Kind::related));
    log.contrary.push_back(bits_of(kinds, Kind::contrary));
}

}  // namespace

SftRows::SftRows(const SftSettings& settings, std::uint64_t seed)
    : settings_(settings),
      seed_(seed),
      given_(rows_for(Use::given, seed, settings.given)),
      validation_(rows_for(Use::validation, seed, settings.validation_rows)),
      test_(rows_for(Use::test, seed, settings.test_rows)) {}

SftRows::General SftRows::general(std::int64_t step) const {
    General drawn;
    for (std::size_t slot = 0; slot < settings_.n; ++slot) {
        const auto row =
            general_row(settings_.pool, seed_, draw(seed_, general_stream, step, slot) % pool_rows);
        drawn.rows.push_back(scored(row));
        drawn.kinds.push_back(row.kind);
    }
    return drawn;
}

std::vector<nn::ScoredRow> SftRows::drawn(std::int64_t step, std::size_t count,
                                          std::uint64_t stream) const {
    std::vector<nn::ScoredRow> rows;
    for (std::size_t slot = 0; slot < count; ++slot)
        rows.push_back(given_[draw(seed_, stream, step, slot) % given_.size()]);
    return rows;
}

std::vector<nn::ScoredRow> SftRows::target(std::int64_t step) const {
    return drawn(step, settings_.m, target_stream);
}

std::vector<nn::ScoredRow> SftRows::target_batch(std::int64_t step) const {
    return drawn(step, settings_.n, target_batch_stream);
}

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
    return decoder;
}

Tuned fine_tune(const SftSettings& settings, std::string_view arm_name, double rate,
                const SftRows& rows, const nn::Decoder& base, std::uint64_t seed,
                const Progress& progress) {
    nn::Decoder decoder = rl::copy_of(base);
    const auto arm = make_arm(arm_name, settings, decoder, rows, seed, rate);

    nn::TrainingOptions options;  // section 3.1
    options.steps = settings.steps;
    options.learning_rate = rate;
    options.warmup = 0.03;
    options.decay_to_zero = true;
    options.beta2 = 0.999;
    options.diverged = 1e9;  // fitting contrary rows is what is to be seen, and raises the loss

    Tuned tuned;
    tuned.rate = rate;
    nn::Maps plain;
    std::array<double, 3> kept{};
    const auto evaluate_at = [&](std::int64_t step) {
        const auto seen = nn::evaluate_rows(decoder, plain, rows.test());
        tuned.at_step.push_back(static_cast<double>(step));
        tuned.test_nll.push_back(seen.nll_nats_per_token);
        return seen;
    };
    tuned.test = evaluate_at(0);

    using Clock = std::chrono::steady_clock;
    Clock::time_point began;
    SftRows::General general;
    std::unique_ptr<TrainingStep> current;
    bool stopped = false;
    std::vector<at::Tensor> held;  // the values of an arm that has stopped
    nn::TrainingCallbacks callbacks;
    callbacks.loss = [&](std::int64_t step) {
        began = Clock::now();
        general = rows.general(step);
        current = arm->step(step, general);
        if (!current && !stopped) {
            stopped = true;
            for (auto& block : decoder.blocks()) held.push_back(block->values().clone());
        }
        const double loss = current ? current->loss() : tuned.loss.back();
        return nn::TrainingStep{at::scalar_tensor(loss, at::kDouble), loss};
    };
    callbacks.backward = [&](std::int64_t, const nn::TrainingStep&) {
        if (current) current->backward();
    };
    callbacks.after = [&](std::int64_t step, const nn::TrainingStep& done) {
        if (stopped)  // momentum would go on
            for (std::size_t i = 0; i < held.size(); ++i)
                decoder.blocks()[i]->values().copy_(held[i]);
        current.reset();
        if (!stopped) {
            tuned.seconds += std::chrono::duration<double>(Clock::now() - began).count();
            ++tuned.trained_steps;
        }
        tuned.loss.push_back(done.task_loss);
        if (arm->decisions()) log_step(*arm->decisions(), general.kinds, tuned.selections, kept);
        const auto done_steps = step + 1;
        const auto every = std::max<std::int64_t>(1, settings.steps / settings.evaluations);
        if (done_steps % every == 0 || done_steps == settings.steps)
            tuned.test = evaluate_at(done_steps);
        if (progress) progress(step, done.task_loss);
    };
    nn::NoState none;
    nn::train(std::string(arm_name), rl::blocks_of(decoder), options, callbacks, none, 0);
    tuned.validation = nn::evaluate_rows(decoder, plain, rows.validation());
    tuned.delegated = arm->delegated();
    if (kept[0] > 0) {
        tuned.selections.kept_related = kept[1] / kept[0];
        tuned.selections.kept_contrary = kept[2] / kept[0];
    }
    return tuned;
}

}  // namespace assay::dr_post_training
