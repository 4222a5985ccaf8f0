// One process of a paced training: a rank of its zebra group.
#pragma once

#include "impls/hetermoe/emulated/arrivals.hpp"
#include "impls/hetermoe/emulated/paced_training.hpp"
#include "impls/hetermoe/training/trainer.hpp"
#include "suite/drive/worker.hpp"

namespace assay::hetermoe {

/// What a plan trains, the same in every process, on a text of its own.
TrainingSettings settings_of(const PacedPlan& plan);
const nn::ByteCorpus& paced_text();

/// run_paced().
std::vector<PacedRun> run_paced_processes(std::span<const PacedPlan> plans);

/// What a rank's process is configured with.
struct PacedRank {
    PacedPlan plan;
    int number = 0, rank = 0;  ///< of the plan; in it
    std::uint16_t port = 0;    ///< of the rendezvous
    long timeout_ms = 0;       ///< of one operation
};
/// A step that it was told to compute (Go); in real seconds.
struct Computed {
    std::vector<TaskRun> runs;
    double move_s = 0, loss = 0;
};
ASSAY_FIELDS(PacedRank, plan, number, rank, port, timeout_ms)
ASSAY_MESSAGE(Computed, "computed", runs, move_s, loss)

/// Told Go, whose epoch is the attempt at the step, and Commit. Attempt 0 is not held to modelled
/// times. Dismissed, it says its Digests. One whose group broke says that and stays, for the reason
/// to be found.
drive::Protocol paced_worker(drive::Worker& me, Arrivals& arrivals);

}  // namespace assay::hetermoe
