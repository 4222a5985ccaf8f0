// A forward pass of a small mixture of experts, whole or split between two processes: numbers that
// show whether every row went to its expert and back.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "impls/hetermoe/emulated/task_executor.hpp"
#include "suite/cluster/collectives/communicator.hpp"

namespace assay::hetermoe {

/// Rows of `width` numbers, expert by expert: row i goes to expert i / rows_per_expert, as a gate
/// with fixed capacity deals them.
using Rows = std::vector<float>;

struct SmallMoe {
    int layers = 0, experts = 0;
    int width = 32, rows_per_expert = 8;
    std::uint64_t seed = 1;

    std::size_t numbers(int of_experts) const {
        return static_cast<std::size_t>(of_experts * rows_per_expert * width);
    }
    Rows input(int micro_batch) const;
    /// What stands for attention: each row through a matrix of the layer's own. Layers count from
    /// 1; layers + 1 is the last stage.
    void attend(int layer, std::span<float> rows) const;
    /// `rows` of one expert, through it.
    void pass_expert(int layer, int expert, std::span<float> rows) const;
};

/// What a micro-batch becomes in one process, all experts in place.
Rows whole_forward(const SmallMoe& model, int micro_batch);

/// One side's part of it, with one GPU of each kind: the expert GPU keeps the first experts of a
/// layer, the last step.offloaded(layer) are on the attention GPU. Thread-safe as execute() calls.
class SplitForward {
  public:
    /// Communicators of two: the attention side is rank 0. Each is used by one queue's thread.
    SplitForward(const SmallMoe& model, const StepShape& step, Side side,
                 cluster::Communicator& out, cluster::Communicator& in);

    void run(const Task& task);
    /// Of the attention side, after the step.
    const Rows& result(int micro_batch) const;

  private:
    int kept(int layer) const { return model_.experts - step_.offloaded(layer); }
    std::span<float> rows_of(int micro_batch, int first_expert, int experts);
    void pass(const Task& task, int first_expert, int experts);
    void transfer(const Task& task, cluster::Communicator& group, int from);

    const SmallMoe& model_;
    const StepShape& step_;
    Side side_;
    cluster::Communicator &out_, &in_;
    std::vector<Rows> rows_;  ///< by micro-batch
};

}  // namespace assay::hetermoe
