#include "impls/lazarus/live/worker.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>

#include "impls/lazarus/live/fault_phases.hpp"
#include "impls/lazarus/live/messages.hpp"
#include "impls/lazarus/live/pacing.hpp"
#include "impls/lazarus/training/state_transfer.hpp"
#include "impls/lazarus/training/trainer.hpp"
#include "impls/nn/moe/checkpoint.hpp"
#include "suite/cluster/faults/fault_layer.hpp"
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/pacer.hpp"
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

cluster::GlooOptions gloo_options(const json& config) {
    cluster::GlooOptions options;
    options.port = config.at("port");
    options.timeout =
        std::chrono::milliseconds(static_cast<long>(config.at("timeout_s").get<double>() * 1000));
    return options;
}

class TrainingWorker {
  public:
    TrainingWorker(Worker self, cluster::ControlChannel& control, const json& config)
        : self_(self),
          training_config_(training_config_from(config.at("training"))),
          corpus_(training_config_.corpus),
          trainer_(training_config_, corpus_),
          gloo_(std::make_shared<cluster::GlooContext>(gloo_options(config))),
          links_(std::make_shared<cluster::LinkFaults>(self, training_config_.seed)),
          timeout_(config.at("timeout_s").get<double>()),
          checkpoints_(config.at("checkpoints").get<std::string>()),
          process_(self, control, config, links_, fault_phases(),
                   {.urgent =
                        [gloo = gloo_, links = links_](const json& message) {
                            if (message.value("type", "") == "abort")
                                abort_groups(*gloo, *links, message);
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
    static void abort_groups(cluster::GlooContext& gloo, cluster::LinkFaults& links,
                             const json& message) {
        const Epoch epoch = message.at("epoch");
        const int dead = message.at("dead");
        const auto why = dead < 0 ? std::string("the step failed on another worker")
                                  : "worker " + std::to_string(dead) + " is gone";
        for (const auto& key : {group_key(epoch), training_key(epoch)}) {
            gloo.abort(key, why);
            links.abort(key, why);
        }
    }

    std::unique_ptr<Communicator> make_group(const std::string& key,
                                             const std::vector<Worker>& workers) {
        return cluster::make_fault_layer(
            gloo_->make_group(key, position(workers, self_), static_cast<int>(workers.size())),
            workers, links_, {.checksums = true, .timeout = timeout_, .group = key});
    }

    // What strikes the transport is done by its listener; this is the rest.
    void strike(const Fault& fault, std::size_t index) {
        if (fault.kind == FaultKind::nan) trainer_.poison_next_step();
        if (fault.kind == FaultKind::corrupt)
            trainer_.flip_bit_of_state(training_config_.seed + index);
        if (fault.kind == FaultKind::torn || fault.kind == FaultKind::disk_full)
            checkpoint_faults_.push_back(
                {fault, index, cluster::monotonic_s() + fault.for_s.value_or(0), false});
    }

    void reconfigure(const json& message) {
        require_sound_state();
        plan_ = reconfigure_from(message);
        // Who was left out for a while has missed steps: what it holds is out of date.
        if (position(plan_.need_dense, self_) >= 0) trainer_.drop_all_but({});
        training_.reset();
        group_.reset();
        process_.wait_at(regroup_point, plan_.resume_step);
        const double started = cluster::monotonic_s();
        group_ = make_group(group_key(plan_.epoch), plan_.members);
        const int rank = position(plan_.training, self_);
        if (plan_.training != plan_.members && rank >= 0)
            training_ = make_group(training_key(plan_.epoch), plan_.training);
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
        require_sound_state();
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
        fail(step, changed(block));
        throw std::runtime_error(changed(block));
    }
    static std::string changed(const BlockKey& block) {
        return "the state of " + block_name(block) + " changed in memory";
    }
    // Before it is given to others or written down.
    void require_sound_state() const {
        if (const auto block = trainer_.corrupted_block())
            throw std::runtime_error(changed(*block));
    }

    // A checkpoint that cannot be written (a full disk) is a loss of safety, not of training.
    void checkpoint(const json& message) {
        const Step step = message.at("step");
        require_sound_state();
        auto damage = nn::CheckpointDamage::none;
        if (!checkpoint_faults_.empty()) {
            auto& next = checkpoint_faults_.front();
            damage = next.fault.kind == FaultKind::torn ? nn::CheckpointDamage::torn
                                                        : nn::CheckpointDamage::no_space;
            if (!next.struck) process_.struck(next.index);
            next.struck = true;
            if (cluster::monotonic_s() >= next.until_s) checkpoint_faults_.pop_front();
        }
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
    std::shared_ptr<cluster::GlooContext> gloo_;
    std::shared_ptr<cluster::LinkFaults> links_;
    cluster::Seconds timeout_;
    struct CheckpointFault {
        Fault fault;
        std::size_t index;  // in the fault plan
        double until_s;     // strikes once; until then again
        bool struck;
    };
    std::deque<CheckpointFault> checkpoint_faults_;
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
