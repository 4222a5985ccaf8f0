// A forward pass by two processes, one for each kind of GPU: they exchange rows through Gloo on
// loopback, in the planned order, and every task lasts as long as the modelled GPU takes.
#pragma once

#include <vector>

#include "impls/hetermoe/emulated/task_executor.hpp"
#include "impls/hetermoe/policy/profile.hpp"

namespace assay::hetermoe {

struct PacedPair {
    TrainingProfile profile;   ///< one GPU of each kind; its seconds are real ones
    std::vector<int> offload;  ///< experts of each layer that are on the new GPU
    int micro_batches = 0;
};

struct PacedPass {
    std::vector<TaskRun> tasks;  ///< of both, by start
    double late_s = 0;           ///< of the process that was late by more: StepRun::late_s
    double difference = 0;       ///< largest, of the results from what one process computes
};

/// Makes a fork server: to be called before the process has threads. Throws SampleError: failed
/// where a process died, interrupted on SIGINT or SIGTERM.
PacedPass run_paced_pair(const PacedPair& pair);

}  // namespace assay::hetermoe
