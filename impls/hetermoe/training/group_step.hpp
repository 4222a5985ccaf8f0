// A rank's share of one step of its zebra group: its tasks in Theorem 1's order, exchanges beside
// them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "impls/hetermoe/policy/profile.hpp"
#include "impls/hetermoe/policy/tasks.hpp"
#include "impls/hetermoe/training/routes.hpp"
#include "impls/nn/moe/state.hpp"
#include "suite/cluster/collectives/communicator.hpp"
#include "suite/cluster/task_queue.hpp"

namespace assay::hetermoe {

/// What connects the ranks of one group, attention ranks first: a communicator per direction, with
/// a queue of its own, so that what goes out and what comes in overlap. Forward dispatches go out
/// and combines come in; backward the gradients of outputs go out and those of rows come in. Every
/// rank takes part in every exchange, and each queue has one order on all ranks. A step that failed
/// leaves it broken.
class GroupLinks {
  public:
    GroupLinks(cluster::Communicator& out, cluster::Communicator& in) : out_(out), in_(in) {}

    int rank() const { return out_.rank(); }
    int size() const { return out_.size(); }
    cluster::Communicator& communicator(Queue queue) {
        return queue == Queue::link_out ? out_ : in_;
    }
    cluster::TaskQueue& queue(Queue queue) {
        return queue == Queue::link_out ? out_queue_ : in_queue_;
    }
    void abort(const std::string& why) noexcept {
        out_.abort(why);
        in_.abort(why);
    }

  private:
    cluster::Communicator &out_, &in_;
    cluster::TaskQueue out_queue_, in_queue_;
};

/// What a step of a group consists of, the same on each of its ranks.
struct GroupPlan {
    Group group;
    int micro_batches = 0;
    std::vector<int> offload;  ///< of each layer
    /// With fixed capacity: the sequences of each attention rank's micro-batches, [rank][number].
    std::vector<std::vector<std::int64_t>> sequences = {};
};

/// Called before each task of this rank: by the thread that computes, or that of a link.
/// What a task waits for of this rank has happened before it; a link's may wait for peers.
using TaskHook = std::function<void(const Task&)>;

/// What a step does beside its tasks, or in place of some of it.
struct StepOptions {
    TaskHook before = {};
    /// Called after each task of this rank, by the same thread, and before what waits for it: where
    /// tensors are on a GPU it has to wait for what the task has launched.
    /// `rows`: that came to the experts of an expert task, or that this rank sent or received in an
    /// exchange, whichever are more; 0 of other tasks.
    std::function<void(const Task&, std::int64_t rows)> after = {};
    /// Called once where a task failed, before what it used goes: where tensors are on a GPU it has
    /// to wait for what was launched.
    std::function<void()> settle = {};
    bool backward = true;          ///< false: the forward pass alone, no gradients
    nn::ForcedChoice choice = {};  ///< made in the gates' place
};

/// Forward and backward of the attention rank's micro-batches (tokens: R of [batch, length + 1];
/// expert ranks have none), or of the rows that come for the experts held here. Gradients of
/// `scale` · loss are added to those of `state`. Returns the sum of the losses of its own tokens in
/// nats. Collective over the group. Throws cluster::CommunicatorBroken, or what a task threw; the
/// links are broken then.
double run_group_step(const GroupPlan& plan, const std::vector<at::Tensor>& tokens, double scale,
                      nn::MoeState& state, GroupLinks& links, const StepOptions& options = {});

}  // namespace assay::hetermoe
