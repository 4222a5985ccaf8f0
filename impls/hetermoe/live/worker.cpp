#include "impls/hetermoe/live/worker.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "impls/hetermoe/live/fault_phases.hpp"
#include "impls/hetermoe/live/messages.hpp"
#include "impls/hetermoe/policy/controller/pace.hpp"
#include "impls/hetermoe/training/trainer.hpp"
#include "impls/nn/moe/checkpoint.hpp"
#include "impls/nn/moe/state_faults.hpp"
#include "impls/nn/moe/transfer.hpp"
#include "suite/cluster/faults/fault_layer.hpp"
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/cluster/worker_groups.hpp"
#include "suite/drive/processes/worker_process.hpp"

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

class TrainingWorker {
  public:
    TrainingWorker(Worker self, cluster::ControlChannel& control, const json& config)
        : self_(self),
          settings_(drive::from_json<TrainingSettings>(config.at("training"))),
          corpus_(settings_.corpus),
          trainer_(settings_, corpus_),
          faults_(std::make_shared<cluster::LinkFaults>(self, settings_.seed)),
          groups_(std::make_shared<cluster::WorkerGroups>(
              self,
              cluster::gloo_groups(config.at("port").get<std::uint16_t>(),
                                   cluster::Seconds(config.at("timeout_s").get<double>())),
              cluster::Seconds(config.at("timeout_s").get<double>()), faults_)),
          checkpoints_(config.at("checkpoints").get<std::string>()),
          process_(self, control, config, faults_, fault_phases(),
                   {.urgent =
                        [groups = groups_](const json& message) {
                            if (message.value("type", "") == "abort")
                                groups->abort(keys_of(message), message.at("dead"));
                        },
                    .strikes = [this](const Fault& fault,
                                      std::size_t index) { strike(fault, index); }}) {}

    int run() {
        process_.join();
        while (auto message = process_.receive()) {
            const std::string type = message->at("type");
            if (type == "reconfigure")
                process_.guarded(message->at("epoch"), [&] { form(*message); });
            else if (type == "go")
                process_.guarded(message->at("epoch"), [&] { compute(message->at("step")); });
            else if (type == "commit")
                commit(message->at("step"));
            else if (type == "write_checkpoint")
                checkpoint(message->at("step"));
            else if (type == "finish")
                process_.say(drive::to_message(Digests{trainer_.digests()}));
            else if (type == "dismiss")
                return 0;
        }
        return 1;  // the supervisor is gone
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

    // What strikes the transport is done by its listener; this is the rest.
    void strike(const Fault& fault, std::size_t index) {
        if (fault.kind == FaultKind::nan || fault.kind == FaultKind::corrupt)
            process_.struck(index);
        if (fault.kind == FaultKind::nan) trainer_.poison_next_step();
        if (fault.kind == FaultKind::corrupt) trainer_.flip_bit_of_state(settings_.seed + index);
        if (fault.kind == FaultKind::torn || fault.kind == FaultKind::disk_full)
            checkpoint_faults_.add(fault, index);
    }

    // ---- plans ---------------------------------------------------------------------------------
    void form(const json& message) {
        nn::require_sound(trainer_);
        links_.reset();
        form_ = drive::message_to<Reconfigure>(message);
        process_.wait_at(regroup_point, form_.resume_step);
        const auto& layout = form_.layout;
        const int rank = layout.rank_of(self_);
        links_ = std::make_unique<EpochLinks>();
        links_->members = groups_->connect(members_key(form_.epoch), form_.members);
        if (rank >= 0) {
            if (form_.members != layout.ranks)
                links_->ranks = groups_->connect(ranks_key(form_.epoch), layout.ranks);
            const int group = layout.group_of(rank);
            std::vector<Worker> workers;
            for (const int member : layout.ranks_of(group))
                workers.push_back(layout.ranks[static_cast<std::size_t>(member)]);
            links_->out = groups_->connect(link_key(form_.epoch, group, "out"), workers);
            links_->in = groups_->connect(link_key(form_.epoch, group, "in"), workers);
            links_->group.emplace(*links_->out, *links_->in);
        }
        process_.wait_at(move_point, form_.resume_step);
        take_over_state();
    }

    void take_over_state() {
        nn::TransferReport moved;
        if (form_.restore_step) {
            try {
                if (form_.layout.rank_of(self_) >= 0)
                    nn::read_checkpoint(checkpoints_, *form_.restore_step, trainer_, mine());
            } catch (const nn::CheckpointError& error) {
                return process_.say(drive::to_message(
                    RestoreFailed{self_, form_.epoch, *form_.restore_step, error.what()}));
            }
        } else {
            moved = nn::transfer_blocks(moves(), *links_->members, trainer_);
        }
        auto ready = drive::to_message(Ready{self_, form_.epoch});
        ready["blocks"] = moved.blocks_received;
        ready["bytes"] = moved.bytes_received;
        process_.say(ready);
    }

    std::vector<nn::BlockMove> moves() const {
        const auto place = [&](Worker worker) {
            return static_cast<int>(std::find(form_.members.begin(), form_.members.end(), worker) -
                                    form_.members.begin());
        };
        std::vector<nn::BlockMove> moves;
        for (const Move& move : form_.moves)
            moves.push_back({place(move.from), place(move.to), move.block});
        return moves;
    }

    std::vector<BlockKey> mine() const {
        return blocks_of(form_.layout, settings_.model.experts, form_.layout.rank_of(self_));
    }

    // ---- steps ---------------------------------------------------------------------------------
    void compute(Step step) {
        trainer_.drop_all_but(mine());
        process_.wait_at(drive::start_point, step);
        TaskTimer timer;
        const int last = settings_.model.layers;
        const auto before = [&](const Task& task) {
            const bool first_back = (task.kind == TaskKind::AB && task.layer == last + 1) ||
                                    (task.kind == TaskKind::EB && task.layer == last);
            if (first_back && task.micro_batch == 1) process_.wait_at(drive::step_point, step);
            timer.begins(task);
        };
        const auto result = trainer_.compute(
            step, form_.layout, {links_->all(), *links_->group},
            {.before = before,
             .after = [&](const Task& task, std::int64_t) { timer.ends(task, last); }});
        if (const auto block = trainer_.corrupted_block()) return give_up_state(step, *block);
        if (!result.not_finite.empty())
            return fail(step, result.not_finite + " is not a finite number");
        auto done = drive::to_message(StepDone{self_, form_.epoch, step});
        done["loss"] = result.loss;
        done["computed"] = drive::to_json(timer.computed());
        process_.say(done);
    }

    // A bit that flipped since the step was reported must not pass as part of the new state.
    void commit(Step step) {
        nn::require_sound(trainer_);
        trainer_.apply(step);
    }

    void fail(Step step, const std::string& why) {
        process_.say(drive::to_message(StepFailed{self_, form_.epoch, step, why}));
    }

    // Nothing that this worker holds can be trusted. The step fails first: what it has sent in it
    // may be wrong too, and must not be committed by those who got it.
    void give_up_state(Step step, const BlockKey& block) {
        fail(step, nn::changed_in_memory(block));
        throw std::runtime_error(nn::changed_in_memory(block));
    }

    void checkpoint(Step step) {
        nn::require_sound(trainer_);
        const auto damage =
            checkpoint_faults_.next([this](std::size_t index) { process_.struck(index); });
        std::vector<BlockKey> share;  // those of which this is the first holder
        const int rank = form_.layout.rank_of(self_);
        for (const auto& block : mine())
            if (holders_of(form_.layout, settings_.model.experts, block).front() == rank)
                share.push_back(block);
        try {
            nn::write_checkpoint(checkpoints_, step, trainer_, share, damage);
            process_.say(drive::to_message(CheckpointWritten{self_, step}));
        } catch (const std::exception& error) {
            process_.say(drive::to_message(CheckpointFailed{step, error.what()}));
        }
    }

    Worker self_;
    TrainingSettings settings_;
    nn::ByteCorpus corpus_;
    Trainer trainer_;
    std::shared_ptr<cluster::LinkFaults> faults_;
    std::shared_ptr<cluster::WorkerGroups> groups_;
    nn::CheckpointFaults checkpoint_faults_;
    std::filesystem::path checkpoints_;
    drive::WorkerProcess process_;
    Reconfigure form_;
    std::unique_ptr<EpochLinks> links_;
};

}  // namespace

int worker_main(cluster::WorkerId self, cluster::ControlChannel& control, const json& config) {
    at::set_num_threads(1);  // one code path, one order of additions
    return TrainingWorker(self, control, config).run();
}

}  // namespace assay::hetermoe
