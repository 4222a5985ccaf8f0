// What fig9, tab2 and the live campaign have in common: one of the paper's models, trained by paced
// workers under one of the competing systems.
#pragma once

#include <filesystem>
#include <string>

#include "impls/lazarus/live/training_session.hpp"

namespace assay::lazarus {

/// The settings of the paper's evaluation (section 6.1) that all its spot experiments share.
struct SpotTraining {
    std::string system = "lazarus";  ///< lazarus, spread, compact, ds, ds_ft
    std::string model = "gpt-s";
    std::string cluster = "lazarus-testbed";
    std::string routing = "synthetic";  ///< or the file of a routing trace
    int workers = 10;
    int real_layers =
        4;  ///< MoE layers that really train; each for 12 / real_layers of the paper's
    int modelled_steps = 25;  ///< one real step stands for so many
    int slots = 6;            ///< replica slots per node and layer (section 6.1); not of ds, ds_ft
    PlacementPolicy placement = PlacementPolicy::mro;  ///< of system lazarus alone
    double relaunch_s = -1;  ///< of a whole job; -1: the cluster profile's
    double duration_s = 0;   ///< scenario seconds; 0: until `steps`
    Step steps = 1'000'000;  ///< real ones
    std::uint64_t seed = 1;
};

/// Throws UserError where a number makes no sense (intervals that `modelled_steps` does not
/// divide).
SessionOptions spot_session(const SpotTraining& training, const std::filesystem::path& corpus,
                            const std::filesystem::path& scratch);

/// Sequences (the paper's "samples") that one committed real step stands for.
double samples_of(const StepRecord& step, const Modelling& modelling);

/// Throws SampleError(invalid) where the machine was too slow: real work late by more than 5 % of
/// the modelled time.
void require_paced(const PacedTime::Summary& pacing);

}  // namespace assay::lazarus
