// A step whose exchanges are flows over the cluster's links, as SimGrid shares them
// (suite/drive/simgrid), and whose tasks are work on its GPUs. New GPUs are ranks 0 … M-1, old ones
// M … M+N-1.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "impls/hetermoe/policy/timeline.hpp"
#include "impls/hetermoe/simulated/lockstep.hpp"
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

/// Of GPUs that do the same at a time: a layer's exchanges and experts in pieces that follow one
/// another; dispatches and combines of different pieces share links. `row_bytes`: what the rows of
/// an attention rank take, its own share with them.
std::vector<FlowJob> lockstep_jobs(const Lockstep& step, int layers, double row_bytes, int pieces);

}  // namespace assay::hetermoe
