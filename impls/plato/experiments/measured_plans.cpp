#include "impls/plato/experiments/measured_plans.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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

LiveModel::LiveModel(const SampleSpec& spec)
    : file_(model::locate_file(live_model, data::Kind::model)),
      tokenizer_(nn::Tokenizer::of(file_)),
      activations_(spec.axes.contains("activations") && word_axis(spec, "activations") == "int8"
                       ? decode::ActivationType::int8
                       : decode::ActivationType::exact) {}

std::unique_ptr<decode::BackEnd> LiveModel::back_end(int blocks) const {
    return decode::back_ends_of(file_,
                                {.threads = 0, .blocks = blocks, .activations = activations_})();
}

std::unique_ptr<decode::ForwardPass> LiveModel::forward_pass(int blocks) const {
    return std::make_unique<decode::ForwardPass>(decode::load_model(file_, {}),
                                                 decode::PassOptions{.blocks = blocks});
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
