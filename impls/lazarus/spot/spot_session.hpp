// A spot training across processes: the modelled one, and the small model that really trains.
#pragma once

#include <filesystem>

#include "impls/lazarus/live/driver.hpp"
#include "impls/lazarus/spot/spot_training.hpp"

namespace assay::lazarus {

/// Throws UserError as modelled_training() does.
SessionOptions spot_session(const SpotTraining& training, const std::filesystem::path& corpus,
                            const std::filesystem::path& scratch);

/// The same training on the machine's own clock: nothing is modelled (modelled_steps is 1), and the
/// scenario passes `speed` times as fast.
SessionOptions unpaced_spot_session(const SpotTraining& training, double speed,
                                    const std::filesystem::path& corpus,
                                    const std::filesystem::path& scratch);

/// Throws SampleError(invalid) where the machine was too slow: real work late by more than 5 % of
/// the modelled time.
void require_paced(const drive::PacingSummary& pacing);

}  // namespace assay::lazarus
