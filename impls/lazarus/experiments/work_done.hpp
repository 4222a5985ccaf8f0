// What a paced training achieved on the clock: the steps that count, and curves over time.
//
// A committed step counts unless a restart undid it later or it ended after the time was up. Sums
// over the curve of steps that count and the totals of the result table are the same numbers.
#pragma once

#include <vector>

#include "impls/lazarus/live/training_session.hpp"

namespace assay::lazarus {

/// The steps that count, by number. Of a step that was undone and made again, the last try; one
/// that was undone and never made again is not there.
std::vector<StepRecord> kept_steps(const SessionResult& result, double duration_s);

/// Sequences per second over time, averaged over each minute.
struct RateCurve {
    std::vector<double> t_s;      ///< middle of each minute
    std::vector<double> samples;  ///< 1/s
};

/// `steps` that end within `duration_s` (above 0, a whole number of minutes), each spread evenly
/// over its time; `samples_per_worker`: sequences that one worker's step stands for.
RateCurve rate_of(const std::vector<StepRecord>& steps, double samples_per_worker,
                  double duration_s);

/// Workers that train, averaged over the time of the steps that end within `duration_s`, undone
/// ones included; 0 without any.
double mean_workers(const std::vector<StepRecord>& steps, double duration_s);

}  // namespace assay::lazarus
