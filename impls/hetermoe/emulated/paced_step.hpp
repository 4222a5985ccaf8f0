// A step of one zebra group on modelled GPUs, rank by rank: what each task takes there, and when
// tasks run where nothing is late. Ranks may differ in speed, and experts in load.
#pragma once

#include <vector>

#include "impls/hetermoe/cost/modelled_times.hpp"
#include "impls/hetermoe/emulated/task_runs.hpp"
#include "impls/hetermoe/policy/controller/protocol.hpp"

namespace assay::hetermoe {

/// Seconds are the modelled GPUs'.
struct PacedStep {
    Layout layout;    ///< one group; its workers are 0, 1 …
    int experts = 0;  ///< of a layer
    /// Of each rank's GPU, forward, for a micro-batch of one attention GPU; `expert`: of all its
    /// rows.
    std::vector<GpuSeconds> ranks;
    double exchange_s = 0;  ///< of such rows over a link, one way, or of the busiest link
    double backward = 3;    ///< times as long as forward, but for exchanges; 0: forward alone
    /// [layer][expert]: the share of rows that each gets, which then decide how long expert tasks
    /// and exchanges are. Empty: all get equally many, and an exchange takes exchange_s.
    std::vector<std::vector<double>> loads;
    double move_s = 0;  ///< before the step: moving experts to where its layout has them

    StepShape shape() const {
        return {.micro_batches = layout.micro_batches,
                .offload = layout.offload,
                .backward = backward > 0};
    }
    int size() const { return static_cast<int>(layout.ranks.size()); }
};

/// Whether a rank computes the task, or takes part in the exchange.
bool takes_part(const Layout& layout, int rank, const Task& task);

/// Rows that an expert task or exchange of a rank has where every expert gets its share, over those
/// of a micro-batch of one attention GPU; of an exchange those sent or received, whichever are
/// more.
double expected_rows(const PacedStep& step, int rank, const Task& task);

/// How long the rank's GPU, or its link, takes for a task with so many rows (expected_rows()).
double task_s(const PacedStep& step, int rank, const Task& task, double rows);

/// Every rank's tasks, in Theorem 1's order on each of its queues; exchanges begin when all ranks
/// are there. With equal ranks this is policy/timeline.hpp.
std::vector<TaskRun> planned_runs(const PacedStep& step);

ASSAY_ROW(GpuSeconds, attention, expert, head)
ASSAY_FIELDS(PacedStep, layout, experts, ranks, exchange_s, backward, loads, move_s)

}  // namespace assay::hetermoe
