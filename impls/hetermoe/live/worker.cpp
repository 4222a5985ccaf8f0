#include "impls/hetermoe/live/worker.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "impls/elastic/member.hpp"
#include "impls/elastic/state_faults.hpp"
#include "impls/hetermoe/live/fault_phases.hpp"
#include "impls/hetermoe/live/messages.hpp"
#include "impls/hetermoe/policy/controller/pace.hpp"
#include "impls/hetermoe/training/trainer.hpp"
#include "impls/nn/moe/checkpoint.hpp"
#include "impls/nn/moe/transfer.hpp"
#include "suite/cluster/faults/fault_layer.hpp"
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/cluster/worker_groups.hpp"
#include "suite/drive/processes/group_worker.hpp"

namespace assay::hetermoe {
namespace {

using cluster::Communicator;
using nlohmann::json;

// The groups of an epoch: all members, the layout's ranks, and each zebra group twice.
std::string members_key(Epoch epoch) { return "epoch" + std::to_string(epoch); }
std::string ranks_key(Epoch epoch) { return members_key(epoch) + "/ranks"; }
std::string link_key(Epoch epoch, int group, const char* direction) {
    return members_key(epoch) + "/group" + std::to_string(group) + "/" + direction;
}

/// The communicators of one epoch; those below use those above.
struct EpochLinks {
    std::unique_ptr<Communicator> members, ranks, out, in;
    std::optional<GroupLinks> group;  ///< none: it has no rank in the layout

    Communicator& all() { return ranks ? *ranks : *members; }
};

/// How long the tasks of a step take that this worker computes. Called by several threads; only
/// that which computes has such tasks.
class TaskTimer {
  public:
    void begins(const Task& task) {
        if (computes(task)) since_s_ = cluster::monotonic_s();
    }
    void ends(const Task& task, int layers) {
        if (!computes(task) || task.layer > layers) return;
        const double took_s = cluster::monotonic_s() - since_s_;
        if (task.kind == TaskKind::AF || task.kind == TaskKind::AB)
            computed_.attention_s += took_s;
        else if (task.kind == TaskKind::XF || task.kind == TaskKind::XB)
            computed_.moved_s += took_s;
        else
            computed_.expert_s += took_s;
    }
    const ComputedTimes& computed() const { return computed_; }

  private:
    double since_s_ = 0;
    ComputedTimes computed_;
};

class TrainingMember final : public elastic::Member {
  public:
    /// `midway`: waits where faults strike in the middle of a step.
    TrainingMember(Worker self, const json& config,
                   std::shared_ptr<cluster::LinkFaults> link_faults,
                   std::function<void(Step)> midway)
        : self_(self),
          settings_(drive::from_json<TrainingSettings>(config.at("training"))),
          corpus_(settings_.corpus),
          trainer_(settings_, corpus_),
          groups_(std::make_shared<cluster::WorkerGroups>(
              self,
              cluster::gloo_groups(config.at("port").get<std::uint16_t>(),
                                   cluster::Seconds(config.at("timeout_s").get<double>())),
              cluster::Seconds(config.at("timeout_s").get<double>()), std::move(link_faults))),
          faults_(settings_.seed),
          checkpoints_(config.at("checkpoints").get<std::string>()),
          midway_(std::move(midway)) {}

    elastic::Plan plan(const drive::AnyMessage& message) override {
        links_.reset();
        plan_ = message.to<Reconfigure>();
        return elastic::plan_of(plan_);
    }

    void connect(const elastic::Plan& plan) override {
        const auto& layout = plan_.layout;
        const int rank = layout.rank_of(self_);
        links_ = std::make_unique<EpochLinks>();
        links_->members = groups_->connect(members_key(plan.epoch()), plan_.members);
        if (rank < 0) return;
        if (plan_.members != layout.ranks)
            links_->ranks = groups_->connect(ranks_key(plan.epoch()), layout.ranks);
        const int group = layout.group_of(rank);
        std::vector<Worker> workers;
        for (const int member : layout.ranks_of(group))
            workers.push_back(layout.ranks[static_cast<std::size_t>(member)]);
        links_->out = groups_->connect(link_key(plan.epoch(), group, "out"), workers);
        links_->in = groups_->connect(link_key(plan.epoch(), group, "in"), workers);
        links_->group.emplace(*links_->out, *links_->in);
    }

    drive::AnyMessage take(const elastic::Plan& plan) override {
        nn::TransferReport moved;
        if (plan.restore) {
            try {
                if (plan_.layout.rank_of(self_) >= 0)
                    nn::read_checkpoint(checkpoints_, *plan.restore, trainer_, mine());
            } catch (const nn::CheckpointError& error) {
                return RestoreFailed{self_, plan.epoch(), *plan.restore, error.what()};
            }
        } else {
            moved = nn::transfer_blocks(moves(), *links_->members, trainer_);
        }
        auto ready = drive::to_message(Ready{self_, plan.epoch()});
        ready["blocks"] = moved.blocks_received;
        ready["bytes"] = moved.bytes_received;
        return drive::AnyMessage::of_json(std::move(ready));
    }

    void keep(const elastic::Plan&) override { trainer_.drop_all_but(mine()); }

    elastic::Outcome compute(const elastic::Plan& plan, const drive::AnyMessage& go) override {
        const Step step = go.to<Go>().step;
        TaskTimer timer;
        const int last = settings_.model.layers;
        const auto before = [&](const Task& task) {
            const bool first_back = (task.kind == TaskKind::AB && task.layer == last + 1) ||
                                    (task.kind == TaskKind::EB && task.layer == last);
            if (first_back && task.micro_batch == 1) midway_(step);
            timer.begins(task);
        };
        const auto result = trainer_.compute(
            step, plan_.layout, {links_->all(), *links_->group},
            {.before = before,
             .after = [&](const Task& task, std::int64_t) { timer.ends(task, last); }});
        auto done = drive::to_message(StepDone{self_, plan.epoch(), step});
        done["loss"] = result.loss;
        done["computed"] = drive::to_json(timer.computed());
        return {.wrong = elastic::not_finite(result.not_finite),
                .done = drive::AnyMessage::of_json(std::move(done))};
    }

    drive::AnyMessage apply(Step step) override {
        trainer_.apply(step);
        return {};
    }

    /// The blocks of which this is the first holder.
    drive::AnyMessage write(const drive::AnyMessage& order, const drive::Strike& strike) override {
        const Step step = order.to<WriteCheckpoint>().step;
        std::vector<BlockKey> share;
        const int rank = plan_.layout.rank_of(self_);
        for (const auto& block : mine())
            if (holders_of(plan_.layout, settings_.model.experts, block).front() == rank)
                share.push_back(block);
        try {
            nn::write_checkpoint(checkpoints_, step, trainer_, share, faults_.damage(strike));
            return CheckpointWritten{self_, step};
        } catch (const std::exception& error) {
            return CheckpointFailed{self_, step, error.what()};
        }
    }

    std::string damaged() override { return elastic::changed_in_memory(trainer_); }
    void suffer(const drive::Strike& strike) override { faults_.suffer(trainer_, strike); }
    void abort(const drive::AnyMessage& message) override {
        const json abort = message.to_json();
        groups_->abort(keys_of(abort), abort.at("dead"));
    }
    /// "finish".
    drive::AnyMessage answer(const drive::AnyMessage&) override {
        return Digests{trainer_.digests()};
    }

  private:
    static std::vector<std::string> keys_of(const json& abort) {
        const Epoch epoch = abort.at("epoch");
        std::vector<std::string> keys{members_key(epoch), ranks_key(epoch)};
        for (int group = 0; group < abort.at("groups").get<int>(); ++group)
            for (const char* direction : {"out", "in"})
                keys.push_back(link_key(epoch, group, direction));
        return keys;
    }

    std::vector<nn::BlockMove> moves() const {
        const auto place = [&](Worker worker) {
            return static_cast<int>(std::find(plan_.members.begin(), plan_.members.end(), worker) -
                                    plan_.members.begin());
        };
        std::vector<nn::BlockMove> moves;
        for (const Move& move : plan_.moves)
            moves.push_back({place(move.from), place(move.to), move.block});
        return moves;
    }

    std::vector<BlockKey> mine() const {
        return blocks_of(plan_.layout, settings_.model.experts, plan_.layout.rank_of(self_));
    }

    Worker self_;
    TrainingSettings settings_;
    nn::ByteCorpus corpus_;
    Trainer trainer_;
    std::shared_ptr<cluster::WorkerGroups> groups_;
    elastic::StateFaults faults_;
    std::filesystem::path checkpoints_;
    std::function<void(Step)> midway_;
    Reconfigure plan_;
    std::unique_ptr<EpochLinks> links_;
};

}  // namespace

int worker_main(cluster::WorkerId self, cluster::ControlChannel& control, const json& config) {
    at::set_num_threads(1);  // one code path, one order of additions
    const auto link_faults =
        std::make_shared<cluster::LinkFaults>(self, config.at("training").at("seed"));
    drive::GroupWorker worker(self, control, config, link_faults, fault_phases());
    TrainingMember member(self, config, link_faults,
                          [&](Step step) { worker.wait_at(drive::step_point, step); });
    return worker.run(elastic::member(worker, member, {regroup_point, move_point}));
}

}  // namespace assay::hetermoe
