// Steps of a zebra group by paced processes, one for each GPU: they exchange real rows through Gloo
// on loopback, forward and backward, in the planned order, and every task lasts as long as the
// modelled GPU takes. What they compute is compared with the same in one process.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "impls/hetermoe/emulated/paced_step.hpp"
#include "impls/tensors/part.hpp"
#include "suite/experiment/metrics.hpp"

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
/// threads. Throws SampleError: failed where a process died or fell silent, or what was computed
/// differs from one process' by more than rounding; interrupted on SIGINT or SIGTERM. Lateness is
/// the caller's to judge: require_punctual.
inline const tensors::Part<std::vector<PacedRun>(std::span<const PacedPlan>)> run_paced{
    "hetermoe/paced", tensors::Needs::processes};

/// An experiment's metrics, and what there is of lateness behind them.
template <class Found>
struct WithLateness : Found {
    using Found::Found;
    Metric late = this->varying("late", "share",
                                "the most of a step that is lateness; above 3 % the sample is "
                                "invalid",
                                Metrics::lower);
    Metric attempts =
        this->varying("attempts", "count", "at all steps, until they were late by no more");
    Metric difference = this->varying(
        "difference", "ratio", "of weights from those that one process computes", Metrics::lower);
};
template <class Found>
void record_lateness(const PacedRun& run, const Found& found) {
    found.late(run.late());
    found.attempts(run.attempts());
    found.difference(run.difference);
}

/// Throws SampleError (invalid) where a step was late by more than its plan allows: this machine is
/// too slow or too busy.
void require_punctual(const PacedPlan& plan, const PacedRun& run);

/// Of a step whose length is to be `real_s` real seconds.
double scale_for(const PacedStep& step, double real_s);

/// Table "tasks" of one step, in modelled seconds.
void record_tasks(const PacedStepRun& step, Recorder& recorder);

}  // namespace assay::hetermoe
