#include "impls/plato/experiments/measured_plans.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>
#include <utility>

#include "impls/decode/back_ends.hpp"
#include "impls/model/named_models.hpp"
#include "impls/plato/experiments/plan_axes.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::plato {
namespace {

using Row = std::array<double, 3>;

/// x of the three unknowns that are wanted, the others 0: normal equations, Gauss with pivots.
Row least_squares(std::span<const LiveStep> steps, std::array<bool, 3> wanted) {
    std::array<std::array<double, 4>, 3> equations{};
    for (const LiveStep& step : steps) {
        const Row terms{1, static_cast<double>(step.sequences),
                        static_cast<double>(step.prefilled)};
        for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t j = 0; j < 3; ++j) equations[i][j] += terms[i] * terms[j];
            equations[i][3] += terms[i] * step.seconds * 1e3;
        }
    }
    for (std::size_t i = 0; i < 3; ++i)
        if (!wanted[i])
            for (std::size_t j = 0; j < 3; ++j) {
                equations[i][j] = equations[j][i] = i == j ? 1 : 0;
                equations[i][3] = 0;
            }
    for (std::size_t i = 0; i < 3; ++i) {
        std::size_t pivot = i;
        for (std::size_t j = i + 1; j < 3; ++j)
            if (std::abs(equations[j][i]) > std::abs(equations[pivot][i])) pivot = j;
        std::swap(equations[i], equations[pivot]);
        if (std::abs(equations[i][i]) < 1e-9) continue;
        for (std::size_t j = 0; j < 3; ++j) {
            if (j == i) continue;
            const double factor = equations[j][i] / equations[i][i];
            for (std::size_t k = 0; k < 4; ++k) equations[j][k] -= factor * equations[i][k];
        }
    }
    Row found{};
    for (std::size_t i = 0; i < 3; ++i)
        if (std::abs(equations[i][i]) >= 1e-9) found[i] = equations[i][3] / equations[i][i];
    return found;
}

}  // namespace

LiveModel::LiveModel(decode::ActivationType activations)
    : path_(model::locate_file(live_model, data::Kind::model)),
      file_(path_),
      tokenizer_(nn::Tokenizer::of(file_)),
      activations_(activations) {}

std::unique_ptr<decode::BackEnd> LiveModel::back_end(int blocks) const {
    return decode::back_ends_of(file_,
                                {.threads = 0, .blocks = blocks, .activations = activations_})();
}

std::unique_ptr<decode::ForwardPass> LiveModel::forward_pass(int blocks) const {
    return std::make_unique<decode::ForwardPass>(decode::load_model(file_, {}),
                                                 decode::PassOptions{.blocks = blocks});
}

ServedSetup LiveModel::served(std::vector<QuestionTokens> questions, int engines) const {
    ServedSetup setup;
    const int all = static_cast<int>(questions.size());
    // All that run, and all that are kept, may be on one engine.
    setup.engine.blocks = 2 * blocks_for(questions, all);
    setup.engine.options.max_batch = LiveSettings().max_batch;
    setup.engine.options.chunk = chunk_for(questions, all);
    setup.engine.threads =
        std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / engines);
    setup.engine.weights = path_;
    setup.engines = engines;
    setup.questions = std::move(questions);
    setup.engine.activations = activations_;
    setup.model = decode::models_of_files();
    return setup;
}

LiveRun LiveModel::run_on_processes(const std::vector<QuestionTokens>& questions,
                                    const LiveSettings& settings, int engines) const {
    ServedSetup setup = served(questions, engines);
    setup.answer = settings.answer;
    setup.engine.options.max_batch = settings.max_batch;
    ServedOutcome served = answer_on_processes(setup);
    LiveRun run{.seconds = served.seconds, .held_blocks = served.held_blocks};
    const bool planned = settings.answer.mode != Mode::ar;
    for (ServedOutcome::Answer& each : served.answers) {
        LiveAnswer& answer = run.answers.emplace_back();
        answer.seconds = each.seconds;
        answer.prompt_tokens = each.prompt_tokens;
        answer.recomputed_tokens = each.recomputed_tokens;
        if (planned) answer.plan_tokens = static_cast<std::int64_t>(each.parts[0].ids.size());
        const std::size_t first = planned ? 1 : 0, end = planned ? each.parts.size() : 1;
        for (std::size_t part = first; part < end; ++part) {
            LiveNode& node = answer.nodes.emplace_back();
            node.ids = std::move(each.parts[part].ids);
            node.log_probabilities = std::move(each.parts[part].log_probabilities);
            answer.answer_tokens += static_cast<std::int64_t>(node.ids.size());
        }
    }
    run.answers_crc32 = answers_crc32(run.answers);
    return run;
}

LiveRun LiveModel::run(std::span<const QuestionTokens> questions,
                       const LiveSettings& settings) const {
    return run_live(questions, back_end(blocks_for(questions, settings.concurrency)), settings);
}

StepCosts fitted_costs(std::span<const LiveStep> steps) {
    const bool batches = std::any_of(steps.begin(), steps.end(), [&](const LiveStep& step) {
        return step.sequences != steps.front().sequences;
    });
    std::array<bool, 3> wanted{true, batches, true};
    Row found = least_squares(steps, wanted);
    for (std::size_t i = 1; i < 3; ++i)
        if (found[i] < 0) {
            wanted[i] = false;
            found = least_squares(steps, wanted);
        }
    return {.step_ms = std::max(found[0], 1e-6),
            .sequence_ms = std::max(found[1], 0.0),
            .prefill_ms = std::max(found[2], 0.0)};
}

double median_error(std::span<const QuestionTokens> questions, const LiveRun& run,
                    const StepCosts& costs, const LiveSettings& settings) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < questions.size(); ++i) {
        const double modelled_s = schedule(questions[i].plan, costs,
                                           {.mode = settings.answer.mode,
                                            .reuse = settings.answer.reuse,
                                            .order = settings.answer.order,
                                            .max_batch = settings.max_batch,
                                            .warm = settings.answer.warm})
                                      .makespan_ms /
                                  1e3;
        errors.push_back(std::abs(modelled_s - run.answers[i].seconds) / run.answers[i].seconds);
    }
    return statistics::quantile(errors, 0.5);
}

}  // namespace assay::plato
