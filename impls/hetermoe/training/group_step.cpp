#include "impls/hetermoe/training/group_step.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <list>
#include <map>
#include <numeric>
#include <utility>

#include "impls/hetermoe/policy/expert_map.hpp"
#include "impls/hetermoe/training/cut_stages.hpp"
#include "impls/nn/all_to_all.hpp"

namespace assay::hetermoe {
namespace {

class GroupStep {
  public:
    GroupStep(const GroupPlan& plan, const std::vector<at::Tensor>& tokens, double scale,
              nn::MoeState& state, GroupLinks& links, const StepOptions& options)
        : plan_(plan),
          shape_{.micro_batches = plan.micro_batches,
                 .offload = plan_.offload,
                 .backward = options.backward},
          scale_(scale),
          state_(state),
          links_(links),
          options_(options),
          mine_(links.rank() < plan.group.attention ? Queue::attention : Queue::expert),
          travels_(plan.offload.size(),
                   std::vector<Travel>(static_cast<std::size_t>(plan.micro_batches))) {
        const auto& model = state.model();
        for (const int offload : plan.offload) {
            const auto layer = static_cast<int>(layers_.size());
            LayerHomes homes{plan.group.attention,
                             hetermoe::homes(model.experts, plan.group, offload)};
            std::vector<const nn::ParameterBlock*> blocks;
            for (const int expert : homes.experts_of(links.rank()))
                blocks.push_back(state.find({layer, expert}));
            layers_.push_back({std::move(homes), HeldExperts(std::move(blocks), model.shape)});
        }
        for (const auto& batch : tokens)
            stages_.emplace_back(model, *state.find(nn::dense_key), batch,
                                 state.placement().attention, options.choice);
        nothing_ =
            at::empty({0, model.width},
                      at::TensorOptions().dtype(model.dtype).device(state.placement().device));
    }

    double run() {
        try {
            enqueue_transfers();
            compute();
        } catch (...) {
            // Nobody may be left waiting, and no link may use what is here any longer.
            links_.abort("a task of this rank failed");
            promises_.clear();
            for (const auto& transfer : transfers_) transfer.wait();
            if (options_.settle) options_.settle();
            throw;
        }
        return loss_;
    }

  private:
    /// The rows of one micro-batch in one layer; each member is there between the tasks that make
    /// and use it.
    struct Travel {
        Outgoing outgoing;
        Incoming incoming;
        at::Tensor sent, received;      ///< rows to experts; gradients of outputs
        at::Tensor rows;                ///< received rows, kept to compute the experts again
        at::Tensor computed, returned;  ///< outputs of experts; gradients of rows
    };
    struct Layer {
        LayerHomes homes;
        HeldExperts experts;
    };

    bool runs_here(const Task& task) const {
        return !computes(task) || queue_of(task.kind) == mine_;
    }
    std::vector<cluster::Event> awaited(const Task& task) const {
        std::vector<cluster::Event> events;
        for (const Task& cause : causes(shape_, task))
            if (runs_here(cause)) events.push_back(events_.at(name_of(cause)));
        return events;
    }

    void enqueue_transfers() {
        in_zebra_order(shape_, [&](const Task& task) {
            const Queue queue = queue_of(task.kind);
            if (queue == mine_) {
                events_[name_of(task)] = promises_[name_of(task)].get_future().share();
            } else if (runs_here(task)) {
                transfers_.push_back(links_.queue(queue).enqueue(
                    awaited(task), [this, task] { perform(task, [&] { transfer(task); }); }));
                events_[name_of(task)] = transfers_.back();
            }
        });
    }

    void compute() {
        const QueueOrders orders = zebra_orders(shape_);
        for (const Task& task : orders[static_cast<std::size_t>(mine_)]) {
            for (const auto& event : awaited(task)) event.get();
            perform(task, [&] { compute(task); });
            taken_.clear();
            promises_.at(name_of(task)).set_value();
        }
        for (const auto& transfer : transfers_) transfer.get();
    }

    Travel& travel(const Task& task, int layer) {
        return travels_[static_cast<std::size_t>(layer - 1)]
                       [static_cast<std::size_t>(task.micro_batch - 1)];
    }
    Travel& travel(const Task& task) { return travel(task, task.layer); }
    Layer& layer(const Task& task) { return layers_[static_cast<std::size_t>(task.layer - 1)]; }
    CutStages& stages(const Task& task) {
        return stages_[static_cast<std::size_t>(task.micro_batch - 1)];
    }

    template <class Work>
    void perform(const Task& task, const Work& work) {
        if (options_.before) options_.before(task);
        work();
        if (options_.after) options_.after(task, rows_of(task));
    }
    std::int64_t rows_of(const Task& task) {
        const auto sum = [](const std::vector<std::int64_t>& rows) {
            return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
        };
        switch (queue_of(task.kind)) {
            case Queue::attention:
                if (task.kind == TaskKind::AF || task.kind == TaskKind::AB) return 0;
                [[fallthrough]];
            case Queue::expert:
                return sum(travel(task).incoming.rows);
            default:
                return std::max(sum(travel(task).incoming.rows), sum(travel(task).outgoing.rows));
        }
    }

    // ---- by a link's thread --------------------------------------------------------------------
    void transfer(const Task& task) {
        auto& comm = links_.communicator(queue_of(task.kind));
        Travel& rows = travel(task);
        const auto or_nothing = [&](at::Tensor& tensor) {
            const auto taken = std::exchange(tensor, {});
            return taken.defined() ? taken : nothing_;
        };
        if (task.kind == TaskKind::DF) {
            if (mine_ == Queue::expert) rows.outgoing = nothing_to_send(links_.size());
            const auto& homes = layer(task).homes;
            if (capacity_ == 0) {
                auto delivery = deliver(rows.outgoing, or_nothing(rows.sent), homes, comm);
                rows.incoming = std::move(delivery.incoming);
                rows.received = std::move(delivery.rows);
                return;
            }
            rows.incoming = fixed_counts(rows_each(task), homes, links_.rank(), links_.size(),
                                         state_.placement().device);
        }
        const auto& out = rows.outgoing.rows;
        const auto& in = rows.incoming.rows;
        if (queue_of(task.kind) == Queue::link_out)
            rows.received = nn::exchange_rows(or_nothing(rows.sent), out, in, comm);
        else
            rows.returned = nn::exchange_rows(or_nothing(rows.computed), in, out, comm);
    }
    // Of each attention rank to every expert, where capacity is fixed.
    std::vector<std::int64_t> rows_each(const Task& task) const {
        std::vector<std::int64_t> rows;
        for (const auto& batches : plan_.sequences)
            rows.push_back(capacity_ * batches[static_cast<std::size_t>(task.micro_batch - 1)]);
        return rows;
    }

    // ---- by the thread that computes -----------------------------------------------------------
    void compute(const Task& task) {
        switch (task.kind) {
            case TaskKind::AF:
                return attention_forward(task);
            case TaskKind::AB:
                return attention_backward(task);
            case TaskKind::EF:
            case TaskKind::XF:
                return experts_forward(task);
            case TaskKind::EB:
            case TaskKind::XB:
                return experts_backward(task);
            default:
                return;  // transfers
        }
    }

    // What a link brought for this task: its memory stays until the task is done, which a GPU may
    // long not be when what uses it has been launched.
    const at::Tensor& take(at::Tensor& tensor) {
        return taken_.emplace_back(std::exchange(tensor, {}));
    }

    // Of a layer's experts, or the gradients of its rows: as the choices were made.
    at::Tensor came_back(Travel& rows) { return rows.outgoing.came_back(take(rows.returned)); }

    void attention_forward(const Task& task) {
        const at::Tensor outputs =
            task.layer > 1 ? came_back(travel(task, task.layer - 1)) : at::Tensor();
        if (task.layer > shape_.layers()) {
            loss_ += stages(task).forward_last(outputs);
            return;
        }
        const auto next = stages(task).forward(task.layer, outputs);
        Travel& rows = travel(task);
        const auto each =
            capacity_ > 0 ? rows_each(task)[static_cast<std::size_t>(links_.rank())] : 0;
        rows.outgoing = address({next.chosen, next.kept, each}, layer(task).homes, links_.size());
        rows.sent = rows.outgoing.sent(next.rows);
    }

    void attention_backward(const Task& task) {
        const bool last = task.layer > shape_.layers();
        const auto gradients = last ? stages(task).backward_last(scale_)
                                    : stages(task).backward(task.layer, came_back(travel(task)));
        if (task.layer == 1) return;
        Travel& below = travel(task, task.layer - 1);
        below.sent = below.outgoing.sent(gradients);
    }

    void experts_forward(const Task& task) {
        Travel& rows = travel(task);
        rows.rows = std::exchange(rows.received, {});
        rows.computed = layer(task).experts.forward(rows.incoming, rows.rows);
    }

    void experts_backward(const Task& task) {
        Travel& rows = travel(task);
        const at::Tensor &input = take(rows.rows), &gradients = take(rows.received);
        rows.computed = layer(task).experts.backward(rows.incoming, input, gradients);
    }

    const GroupPlan& plan_;
    StepShape shape_;
    double scale_;
    nn::MoeState& state_;
    GroupLinks& links_;
    const StepOptions& options_;
    Queue mine_;
    std::int64_t capacity_ = nn::capacity_of(state_.model());  // of a sequence; 0: dropless
    std::vector<Layer> layers_;
    std::vector<CutStages> stages_;             // of each micro-batch, on attention ranks
    std::vector<std::vector<Travel>> travels_;  // [layer][micro-batch]
    at::Tensor nothing_;                        // [0, width]
    std::list<at::Tensor> taken_;               // by the task that is computed
    double loss_ = 0;

    std::map<TaskName, cluster::Event> events_;  // of the tasks that run here
    std::map<TaskName, std::promise<void>> promises_;
    std::vector<cluster::Event> transfers_;
};

}  // namespace

double run_group_step(const GroupPlan& plan, const std::vector<at::Tensor>& tokens, double scale,
                      nn::MoeState& state, GroupLinks& links, const StepOptions& options) {
    return GroupStep(plan, tokens, scale, state, links, options).run();
}

}  // namespace assay::hetermoe
