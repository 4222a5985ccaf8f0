// How the loss of a training falls while nodes are lost and some come back, by plan: for x_loss.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "impls/lazarus/training/planned_training.hpp"

namespace assay::lazarus {

struct LossCourseOptions {
    TrainingConfig training;   ///< its `corpus` is the whole text; its batch.full_workers start
    int slots = 2;             ///< of a worker and layer
    std::int64_t samples = 0;  ///< training sequences after which it ends
    std::int64_t steps = 0;    ///< over which the loss is followed by steps
    int points = 10;  ///< equal parts of both, after each of which the held-out loss is taken
    /// Workers of a step that begins after so many samples. New plans follow the loads of the step
    /// before, as those of the controller; who trains does not depend on them.
    std::function<int(std::int64_t samples)> workers;
    std::function<void(double share)> progress;  ///< may be empty
};

/// Held-out loss in nats per byte.
struct LossCourse {
    std::vector<double>
        by_samples;                ///< after each part of the samples (the step that completes it)
    std::vector<double> by_steps;  ///< after each part of the steps
    std::vector<double> training_loss;  ///< of every step, over its global batch
    std::vector<double> samples;        ///< trained on after every step
    std::vector<int> workers;           ///< of every step
    /// Sequences that the busiest worker computed one after another, in units of
    /// training.sequences: the time that computing takes, reductions and updates left out.
    double passes = 0;
    bool operator==(const LossCourse&) const = default;
};

/// The last tenth of the text is held out; the loss is taken on the same windows of it whatever the
/// seed. Deterministic. Throws UserError when the text cannot be read or is too short.
LossCourse follow_loss(const LossCourseOptions& options);

/// The text's part to train on, as follow_loss() takes it.
std::string training_part(const std::string& text);

nlohmann::json to_json(const LossCourse&);
LossCourse loss_course_from(const nlohmann::json&);

}  // namespace assay::lazarus
