#include "impls/lazarus/live/worker.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "impls/lazarus/live/fault_phases.hpp"
#include "impls/lazarus/live/messages.hpp"
#include "impls/lazarus/live/pacing.hpp"
#include "impls/lazarus/training/state_transfer.hpp"
#include "impls/lazarus/training/trainer.hpp"
#include "impls/nn/moe/checkpoint.hpp"
#include "impls/nn/moe/state_faults.hpp"
#include "suite/cluster/faults/fault_layer.hpp"
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/cluster/worker_groups.hpp"
#include "suite/drive/processes/worker_process.hpp"

namespace assay::lazarus {
namespace {

using cluster::Communicator;
using nlohmann::json;

std::string group_key(Epoch epoch) { return "epoch" + std::to_string(epoch); }
std::string training_key(Epoch epoch) { return group_key(epoch) + "/training"; }

int position(const std::vector<Worker>& workers, Worker self) {
    const auto found = std::find(workers.begin(), workers.end(), self);
    return found == workers.end() ? -1 : static_cast<int>(found - workers.begin());
}

class TrainingWorker {
  public:
    TrainingWorker(Worker self, cluster::ControlChannel& control, const json& config)
        : self_(self),
          training_config_(training_config_from(config.at("training"))),
          corpus_(training_config_.corpus),
          trainer_(training_config_, corpus_),
          links_(std::make_shared<cluster::LinkFaults>(self, training_config_.seed)),
          groups_(std::make_shared<cluster::WorkerGroups>(
              self,
              cluster::gloo_groups(config.at("port").get<std::uint16_t>(),
                                   cluster::Seconds(config.at("timeout_s").get<double>())),
              cluster::Seconds(config.at("timeout_s").get<double>()), links_)),
          checkpoints_(config.at("checkpoints").get<std::string>()),
          process_(self, control, config, links_, fault_phases(),
                   {.urgent =
                        [groups = groups_](const json& message) {
                            if (message.value("type", "") == "abort")
                                groups->abort(keys_of(message), message.at("dead"));
                        },
                    .strikes = [this](const Fault& fault,
                                      std::size_t index) { strike(fault, index); }}) {
        if (config.contains("modelling")) pacing_.emplace(modelling_from(config.at("modelling")));
    }

    int run() {
        process_.join();
        while (auto message = process_.receive()) {
            const std::string type = message->at("type");
            if (type == "reconfigure")
                process_.guarded(message->at("epoch"), [&] { reconfigure(*message); });
            else if (type == "go")
                process_.guarded(message->at("epoch"), [&] { compute(*message); });
            else if (type == "commit")
                commit(message->at("step"));
            else if (type == "checkpoint")
                checkpoint(*message);
            else if (type == "dismiss")
                return 0;
            else if (type == "finish")
                process_.say(to_message(Digests{trainer_.digests()}));
        }
        return 1;  // the supervisor is gone
    }

  private:
    static std::vector<std::string> keys_of(const json& abort) {
        const Epoch epoch = abort.at("epoch");
        return {group_key(epoch), training_key(epoch)};
    }

    // What strikes the transport is done by its listener; this is the rest.
    void strike(const Fault& fault, std::size_t index) {
        if (fault.kind == FaultKind::nan || fault.kind == FaultKind::corrupt)
            process_.struck(index);
        if (fault.kind == FaultKind::nan) trainer_.poison_next_step();
        if (fault.kind == FaultKind::corrupt)
            trainer_.flip_bit_of_state(training_config_.seed + index);
        if (fault.kind == FaultKind::torn || fault.kind == FaultKind::disk_full)
            checkpoint_faults_.add(fault, index);
    }

    void reconfigure(const json& message) {
        nn::require_sound(trainer_);
        plan_ = reconfigure_from(message);
        // Who was left out for a while has missed steps: what it holds is out of date.
        if (position(plan_.need_dense, self_) >= 0) trainer_.drop_all_but({});
        training_.reset();
        group_.reset();
        process_.wait_at(regroup_point, plan_.resume_step);
        const double started = cluster::monotonic_s();
        group_ = groups_->connect(group_key(plan_.epoch), plan_.members);
        const int rank = position(plan_.training, self_);
        if (plan_.training != plan_.members && rank >= 0)
            training_ = groups_->connect(training_key(plan_.epoch), plan_.training);
        const double grouped = cluster::monotonic_s();
        process_.wait_at(transfer_point, plan_.resume_step);
        nn::TransferReport moved;
        const double transfer_started = cluster::monotonic_s();
        if (plan_.restore_step) {
            try {
                if (rank >= 0)
                    nn::read_checkpoint(checkpoints_, *plan_.restore_step, trainer_, mine());
            } catch (const nn::CheckpointError& error) {
                return process_.say(
                    to_message(RestoreFailure{plan_.epoch, *plan_.restore_step, error.what()}));
            }
        } else {
            moved = transfer_state(plan_, *group_, trainer_);
        }
        process_.say(to_message(GroupReport{.epoch = plan_.epoch,
                                            .group_s = grouped - started,
                                            .transfer_s = cluster::monotonic_s() - transfer_started,
                                            .blocks = moved.blocks_received,
                                            .bytes = moved.bytes_received}));
    }

    void compute(const json& message) {
        const Step step = message.at("step");
        trainer_.drop_all_but(mine());
        auto& comm = training_ ? *training_ : *group_;
        if (pacing_) pacing_->begin(message, plan_, position(plan_.training, self_));
        process_.wait_at(drive::start_point, step);
        const auto held_before = links_->held();
        const auto result = trainer_.compute(step, plan_.holders, comm, hooks(step));
        if (const auto block = trainer_.corrupted_block()) return give_up_state(step, *block);
        if (!result.not_finite.empty())
            return fail(step, result.not_finite + " is not a finite number");
        auto done = to_message(StepReport{plan_.epoch, step, result.loss, result.loads});
        if (pacing_) pacing_->report(done, (links_->held() - held_before).count());
        process_.say(done);
    }

    // A bit that flipped since the step was reported must not pass as part of the new state.
    void commit(Step step) {
        nn::require_sound(trainer_);
        trainer_.apply(step);
    }

    StepHooks hooks(Step step) {
        StepHooks hooks;
        hooks.done = [this, step](StepHooks::Phase phase, int layer) {
            if (phase == StepHooks::Phase::dispatched && layer == 0)
                process_.wait_at(drive::step_point, step);
            if (pacing_) pacing_->done(phase, layer);
        };
        if (pacing_)
            hooks.counted = [this](int layer, std::span<const Tokens> tokens) {
                pacing_->counted(layer, tokens);
            };
        return hooks;
    }

    void fail(Step step, const std::string& why) {
        process_.say(to_message(StepFailure{plan_.epoch, step, why}));
    }

    // Nothing that this worker holds can be trusted. The step fails first: what it has sent in it
    // may be wrong too, and must not be committed by those who got it.
    void give_up_state(Step step, const BlockKey& block) {
        fail(step, nn::changed_in_memory(block));
        throw std::runtime_error(nn::changed_in_memory(block));
    }

    // A checkpoint that cannot be written (a full disk) is a loss of safety, not of training.
    void checkpoint(const json& message) {
        const Step step = message.at("step");
        nn::require_sound(trainer_);
        const auto damage =
            checkpoint_faults_.next([this](std::size_t index) { process_.struck(index); });
        try {
            nn::write_checkpoint(checkpoints_, step, trainer_, checkpoint_blocks_from(message),
                                 damage);
            process_.say(to_message(CheckpointReport{step}));
        } catch (const std::exception& error) {
            process_.say(to_message(CheckpointFailure{step, error.what()}));
        }
    }

    std::vector<BlockKey> mine() const {
        return blocks_of(plan_.holders, position(plan_.training, self_));
    }

    Worker self_;
    TrainingConfig training_config_;
    nn::ByteCorpus corpus_;
    Trainer trainer_;
    std::shared_ptr<cluster::LinkFaults> links_;
    std::shared_ptr<cluster::WorkerGroups> groups_;
    nn::CheckpointFaults checkpoint_faults_;
    std::filesystem::path checkpoints_;
    drive::WorkerProcess process_;
    std::optional<StepPacing> pacing_;  // paced runs
    Reconfigure plan_;
    std::unique_ptr<Communicator> group_;     // plan_.members
    std::unique_ptr<Communicator> training_;  // plan_.training, where that differs
};

}  // namespace

int worker_main(cluster::WorkerId self, cluster::ControlChannel& control, const json& config) {
    at::set_num_threads(1);  // one code path, one order of additions
    return TrainingWorker(self, control, config).run();
}

}  // namespace assay::lazarus
