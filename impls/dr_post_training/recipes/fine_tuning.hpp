// One fine-tuning: the same start, the same batches for every arm, and what each arm makes of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "impls/dr_post_training/recipes/arms.hpp"
#include "impls/dr_post_training/recipes/choice_study.hpp"
#include "impls/dr_post_training/recipes/settings.hpp"
#include "impls/dr_post_training/recipes/sft_rows.hpp"
#include "impls/nn/decoder.hpp"
#include "impls/nn/training/row_batch.hpp"
#include "impls/nn/training/training_loop.hpp"
#include "suite/drive/describe.hpp"

namespace assay::dr_post_training {

/// Called after each update with the step and its loss; may be empty.
using Progress = std::function<void(std::int64_t step, double nll)>;

/// The model before fine-tuning: knows the tasks of impls/rl, not the target's words. `states`
/// keeps it for other samples of the session.
nn::Decoder base_model(const SftSettings& settings, std::uint64_t seed, nn::StateKeeper& states,
                       const Progress& progress);

/// Which groups chose which rows, a bit for each, step by step; and how large their scores were.
struct SelectionLog {
    std::map<std::string, std::vector<double>> rows;         ///< group → step → bits
    std::map<std::string, std::vector<double>> mean_scores;  ///< group → step → mean |score|
    std::vector<double> related, contrary;                   ///< step → bits of the batch
    ChoiceStudy study;
    /// Rows kept by all groups in all steps, and how many of these are …
    struct Kept {
        double rows = 0, related = 0, contrary = 0;
    } kept;
    double kept_related() const { return kept.rows == 0 ? 0 : kept.related / kept.rows; }
    double kept_contrary() const { return kept.rows == 0 ? 0 : kept.contrary / kept.rows; }
};
ASSAY_ROW(SelectionLog::Kept, rows, related, contrary)
ASSAY_FIELDS(SelectionLog, rows, mean_scores, related, contrary, study, kept)

struct Tuned {
    double rate = 0;
    nn::RowEvaluation validation, test;           ///< at the end
    std::vector<double> at_step, test_nll, loss;  ///< loss: every step, as TrainingStep
    double seconds = 0;              ///< of the steps that trained, without evaluations
    std::int64_t trained_steps = 0;  ///< fewer than all where an arm stops
    SelectionLog selections;         ///< empty for arms that choose nothing
    std::map<std::string, std::int64_t> delegated;  ///< Arm::delegated()
};
ASSAY_FIELDS(Tuned, rate, validation, test, at_step, test_nll, loss, seconds, trained_steps,
             selections, delegated)

/// What a fine-tuning may be given besides.
struct FineTuningExtras {
    Preparation prepared;  ///< prepare() of the arm
    nn::StateKeeper* states =
        nullptr;  ///< checkpoints of it, every settings.checkpoint_every steps
};

/// Fine-tunes a copy of `base` at one rate. Throws nn::TrainingDiverged, std::invalid_argument for
/// an arm that there is not. Several may run at once, on threads of their own. A training that goes
/// on from a checkpoint ends as without the interruption, but that "iif" judges the rest of its
/// round anew.
Tuned fine_tune(const SftSettings& settings, std::string_view arm, double rate, const SftRows& rows,
                const nn::Decoder& base, std::uint64_t seed, const Progress& progress,
                const FineTuningExtras& extras = {});

/// A step of the arm over a plain one of all general rows: `turns` of each, in turns, whole steps
/// with their updates; sums of seconds.
struct StepRatio {
    int turns = 0;
    double arm_s = 0, plain_s = 0;
    double over_plain() const { return arm_s / plain_s; }
};
StepRatio step_ratio(const SftSettings& settings, std::string_view arm, double rate,
                     const SftRows& rows, const nn::Decoder& base, std::uint64_t seed,
                     const Preparation& prepared, int turns);

/// How many steps an arm makes in the time of settings.steps plain ones, `preparation_s` included;
/// at most four times as many.
std::int64_t steps_in_equal_time(const SftSettings& settings, const StepRatio& ratio,
                                 double preparation_s);

}  // namespace assay::dr_post_training
