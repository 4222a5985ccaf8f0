// One fine-tuning on a toy model: the same start, the same batches for every arm, and what each arm
// makes of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "impls/dr_post_training/method/training_step.hpp"
#include "impls/dr_post_training/recipes/choice_study.hpp"
#include "impls/dr_post_training/recipes/settings.hpp"
#include "impls/nn/decoder.hpp"
#include "impls/nn/training/row_batch.hpp"
#include "impls/nn/training/training_loop.hpp"

namespace assay::dr_post_training {

/// The rows of one seed. Those of a step are a function of the step.
class SftRows {
  public:
    SftRows(const SftSettings& settings, std::uint64_t seed);

    struct General {
        std::vector<nn::ScoredRow> rows;
        std::vector<Kind> kinds;
    };
    General general(std::int64_t step) const;                    ///< n of the pool
    std::vector<nn::ScoredRow> target(std::int64_t step) const;  ///< m of the given ones
    /// n of the given ones, for arms that train on nothing else.
    std::vector<nn::ScoredRow> target_batch(std::int64_t step) const;

    const std::vector<nn::ScoredRow>& given() const { return given_; }
    const std::vector<nn::ScoredRow>& validation() const { return validation_; }
    const std::vector<nn::ScoredRow>& test() const { return test_; }

  private:
    std::vector<nn::ScoredRow> drawn(std::int64_t step, std::size_t count,
                                     std::uint64_t stream) const;

    SftSettings settings_;
    std::uint64_t seed_;
    std::vector<nn::ScoredRow> given_, validation_, test_;
};

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
    double kept_related = 0, kept_contrary = 0;  ///< share of the kept rows, mean over all
};

struct Tuned {
    double rate = 0;
    nn::RowEvaluation validation, test;           ///< at the end
    std::vector<double> at_step, test_nll, loss;  ///< loss: every step, as TrainingStep
    double seconds = 0;              ///< of the steps that trained, without evaluations
    std::int64_t trained_steps = 0;  ///< fewer than all where an arm stops
    SelectionLog selections;         ///< empty for arms that choose nothing
    std::map<std::string, std::int64_t> delegated;  ///< Arm::delegated()
};

/// Fine-tunes a copy of `base` at one rate. Throws nn::TrainingDiverged, std::invalid_argument for
/// an arm that there is not.
Tuned fine_tune(const SftSettings& settings, std::string_view arm, double rate, const SftRows& rows,
                const nn::Decoder& base, std::uint64_t seed, const Progress& progress);

}  // namespace assay::dr_post_training
