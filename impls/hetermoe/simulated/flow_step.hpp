// A step whose exchanges are flows over the cluster's links, as SimGrid shares them
// (suite/drive/simgrid), and whose tasks are work on its GPUs. New GPUs are ranks 0 … M-1, old ones
// M … M+N-1.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "impls/hetermoe/policy/timeline.hpp"
#include "suite/drive/simgrid/rank_flows.hpp"

namespace assay::hetermoe {

/// What a queue does at a time: work on ranks, or flows between them, all at once. It is done when
/// all of them are.
struct FlowJob {
    struct Work {
        int rank = 0;
        double seconds = 0;
    };
    struct Flow {
        int from = 0, to = 0;
        double bytes = 0;
    };
    int queue = 0;
    std::vector<std::size_t> after;  ///< jobs that must be done before, by number: smaller ones
    std::vector<Work> work;
    std::vector<Flow> flows;
};

/// Seconds until all are done; each queue takes its jobs in their order.
double run_jobs(std::shared_ptr<drive::RankFlows> flows, std::span<const FlowJob> jobs);

/// Of a zebra group, in Theorem 1's order. `row_bytes`: what an attention GPU's rows of one
/// micro-batch take, one way. Those for moved experts go to the other attention GPUs instead, in
/// equal shares; the timeline lets all rows travel to expert GPUs.
std::vector<FlowJob> zebra_jobs(const StepShape& step, const TaskTimes& times, const Group& group,
                                double row_bytes);

/// Of arms whose GPUs do the same at a time: attention of a layer, then its exchanges and experts
/// in pieces that follow one another; dispatches and combines of different pieces share links.
struct PhasedStep {
    int layers = 0;
    std::vector<int> attention, experts;                ///< ranks; expert parallelism: the same
    double attention_s = 0, experts_s = 0, head_s = 0;  ///< forward
    double backward = 1;                                ///< so many times as long
    double row_bytes = 0;  ///< what the rows of an attention rank take, its own share with them
    int pieces = 1;
    double launch_s = 0;  ///< what the experts of a piece take whatever its size, among experts_s
};
std::vector<FlowJob> phased_jobs(const PhasedStep& step);

}  // namespace assay::hetermoe
