// Steps of a zebra group by paced processes, one for each GPU: they exchange real rows through Gloo
// on loopback, forward and backward, in the planned order, and every task lasts as long as the
// modelled GPU takes. What they compute is compared with the same in one process.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "impls/hetermoe/emulated/paced_step.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {

/// A training of a small byte-level GPT, of as many layers and experts as the modelled one. Equal
/// ranks and experts in all steps.
struct PacedPlan {
    std::vector<PacedStep> steps;  ///< experts move in between where layouts differ
    double scale = 1;              ///< real seconds for each modelled one
    std::int64_t sequences = 0;    ///< of a step, over all attention ranks
    std::int64_t context = 8;      ///< tokens of one
    std::uint64_t seed = 1;
    /// A step counts where at most this share of its length is lateness; else it is done again, so
    /// often at most, and the best attempt stays. Which one counts hangs on lateness alone.
    double most_late = 0.03;
    int attempts = 5;
};
ASSAY_FIELDS(PacedPlan, steps, scale, sequences, context, seed, most_late, attempts)

/// What became of one step, in modelled seconds.
struct PacedStepRun {
    std::vector<TaskRun> runs;  ///< rank by rank, queue by queue
    double length_s = 0;        ///< to the last task's end
    double late = 0;            ///< share of it (late_s())
    double move_s = 0;          ///< before it, moving experts
    double loss = 0;            ///< mean nats per token
    int attempts = 0;
};

struct PacedRun {
    std::vector<PacedStepRun> steps;
    /// From the same training in one process: the largest of the weights (largest_difference()), or
    /// where nothing goes backward the loss' relative one. In double precision.
    double difference = 0;

    double late() const;  ///< the largest
    int attempts() const;
};

/// Each plan with processes of its own, one after the other. To be called before the process has
/// threads. Throws SampleError: unsupported where this build has no libtorch or Gloo; failed where
/// a process died or fell silent, or what was computed differs from one process' by more than
/// rounding; interrupted on SIGINT or SIGTERM. Lateness is the caller's to judge: require_punctual.
std::vector<PacedRun> run_paced(std::span<const PacedPlan> plans);

/// "late", "attempts" and "difference" of a sample, as recorded by record_lateness().
std::vector<MetricSpec> lateness_metrics();
void record_lateness(const PacedRun& run, Recorder& recorder);

/// Throws SampleError (invalid) where a step was late by more than its plan allows: this machine is
/// too slow or too busy.
void require_punctual(const PacedPlan& plan, const PacedRun& run);

/// Of a step whose length is to be `real_s` real seconds.
double scale_for(const PacedStep& step, double real_s);

/// Table "tasks" of one step, in modelled seconds.
void record_tasks(const PacedStepRun& step, Recorder& recorder);

}  // namespace assay::hetermoe
