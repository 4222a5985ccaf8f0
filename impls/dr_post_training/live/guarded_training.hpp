// A training as its guard sees it: steps that are computed, then applied; a state with a digest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "impls/dr_post_training/policy/guard/protocol.hpp"
#include "impls/dr_post_training/recipes/arms.hpp"
#include "impls/dr_post_training/recipes/fine_tuning.hpp"
#include "impls/nn/moe/checkpoint.hpp"

namespace assay::dr_post_training {

struct GuardedSettings {
    std::string arm = "layer";
    std::int64_t steps = 0;
    std::uint64_t seed = 1;
    double rate = 1e-3;
};
ASSAY_FIELDS(GuardedSettings, arm, steps, seed, rate)

/// A checkpoint that is missing, torn, or not what its name says.
class BadCheckpoint : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Not for two threads. Everything is a function of the settings and of what was applied.
class GuardedTraining {
  public:
    explicit GuardedTraining(const GuardedSettings& settings);

    struct Outcome {
        double loss = 0;
        std::string selections;  ///< "GROUP=rows as bits", joined by blanks
        bool finite = true;      ///< loss, scores (nothing is chosen by others) and gradients
    };
    /// Gradients of the step after the state; changes nothing of it. Calls `midway` between forward
    /// and backward pass.
    Outcome compute(Step step, const std::function<void()>& midway = {});
    /// Applies what was computed last.
    void apply(Step step);

    /// Weights, moments and the selections of the step that led here, bit for bit.
    std::string digest() const;
    /// The state before step 0.
    void begin();
    void write(const std::filesystem::path& file, Step step,
               nn::CheckpointDamage = {}) const;              ///< throws std::system_error
    void read(const std::filesystem::path& file, Step step);  ///< throws BadCheckpoint

    /// Injected faults.
    /// The activations of the step that is computed next are not numbers, so that its scores and
    /// gradients are none; called twice: of the two computed next.
    void poison_next_step() { ++poisoned_; }
    void flip_bit_of_state(std::uint64_t where);

  private:
    std::string header(Step step) const;

    GuardedSettings guarded_;
    SftSettings settings_;
    SftRows rows_;
    std::unique_ptr<nn::Decoder> decoder_;
    std::unique_ptr<Arm> arm_;
    std::string selections_;  ///< of the step that led to the state
    std::string computed_;    ///< of the step computed last
    int poisoned_ = 0;        ///< computations to come that are not finite
};

}  // namespace assay::dr_post_training
