// What a training does about its batch and its learning rate while fewer workers train than both
// were chosen for. The paper trains four sequences per live GPU (section 6.1), so its global batch
// shrinks with the nodes; of the learning rate it says nothing.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::lazarus {

struct BatchRule {
    /// shrink: every worker computes `sequences`, so the global batch follows the workers. keep:
    /// the workers that are left compute the sequences of all, several micro-batches each, and add
    /// their gradients up before the one update.
    enum class Batch { shrink, keep };
    /// What the learning rate is multiplied with when n of m workers train: 1, sqrt(n/m) (for Adam:
    /// Malladi et al., arXiv 2205.10287), n/m (for SGD: Goyal et al., arXiv 1706.02677).
    enum class Rate { keep, root, linear };

    Batch batch = Batch::shrink;
    Rate rate = Rate::keep;
    int full_workers = 0;  ///< m; with shrink and keep it does not matter
};

/// Consecutive sequences of a step's global batch.
struct MicroBatch {
    std::int64_t first = 0;
    std::int64_t sequences = 0;
    bool operator==(const MicroBatch&) const = default;
};

/// Of the global batch of one step of `ranks` workers.
std::int64_t global_sequences(const BatchRule& rule, int sequences, int ranks);

/// What `rank` of `ranks` computes in a step, one after the other; equally many on every rank, each
/// of 1 to `sequences` sequences. Together the ranks compute every sequence of the global batch
/// once. Throws std::invalid_argument where that cannot be: a batch is kept of one sequence per
/// worker (some rank would have nothing to compute while others do).
std::vector<MicroBatch> micro_batches(const BatchRule& rule, int sequences, int ranks, int rank);

/// Of a step of `ranks` workers.
double learning_rate(const BatchRule& rule, double full, int ranks);

}  // namespace assay::lazarus
