#include "impls/lazarus/live/worker.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "impls/elastic/member.hpp"
#include "impls/elastic/state_faults.hpp"
#include "impls/lazarus/live/fault_phases.hpp"
#include "impls/lazarus/live/messages.hpp"
#include "impls/lazarus/live/pacing.hpp"
#include "impls/lazarus/training/state_transfer.hpp"
#include "impls/lazarus/training/trainer.hpp"
#include "impls/nn/moe/checkpoint.hpp"
#include "suite/cluster/faults/fault_layer.hpp"
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/cluster/worker_groups.hpp"
#include "suite/drive/processes/group_worker.hpp"

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

class TrainingMember final : public elastic::Member {
  public:
    /// `midway`: waits where faults strike in the middle of a step.
    TrainingMember(Worker self, const json& config, std::shared_ptr<cluster::LinkFaults> links,
                   std::function<void(Step)> midway)
        : self_(self),
          training_config_(drive::from_json<TrainingConfig>(config.at("training"))),
          corpus_(training_config_.corpus),
          trainer_(training_config_, corpus_),
          links_(std::move(links)),
          groups_(std::make_shared<cluster::WorkerGroups>(
              self,
              cluster::gloo_groups(config.at("port").get<std::uint16_t>(),
                                   cluster::Seconds(config.at("timeout_s").get<double>())),
              cluster::Seconds(config.at("timeout_s").get<double>()), links_)),
          faults_(training_config_.seed),
          checkpoints_(config.at("checkpoints").get<std::string>()),
          midway_(std::move(midway)) {
        if (config.contains("modelling")) pacing_.emplace(modelling_from(config.at("modelling")));
    }

    elastic::Plan plan(const drive::AnyMessage& message) override {
        plan_ = message.to<Reconfigure>();
        // Who was left out for a while has missed steps: what it holds is out of date.
        if (position(plan_.need_dense, self_) >= 0) trainer_.drop_all_but({});
        training_.reset();
        group_.reset();
        return elastic::plan_of(plan_);
    }

    void connect(const elastic::Plan& plan) override {
        group_ = groups_->connect(group_key(plan.epoch()), plan_.members);
        if (plan_.training != plan_.members && position(plan_.training, self_) >= 0)
            training_ = groups_->connect(training_key(plan.epoch()), plan_.training);
    }

    drive::AnyMessage take(const elastic::Plan& plan) override {
        nn::TransferReport moved;
        const double started = cluster::monotonic_s();
        if (plan.restore) {
            try {
                if (position(plan_.training, self_) >= 0)
                    nn::read_checkpoint(checkpoints_, *plan.restore, trainer_, mine());
            } catch (const nn::CheckpointError& error) {
                return RestoreFailed{self_, plan.epoch(), *plan.restore, error.what()};
            }
        } else {
            moved = transfer_state(plan_, *group_, trainer_);
        }
        auto ready = drive::to_message(Ready{self_, plan.epoch()});
        ready["transfer_s"] = cluster::monotonic_s() - started;
        ready["blocks"] = moved.blocks_received;
        ready["bytes"] = moved.bytes_received;
        return drive::AnyMessage::of_json(std::move(ready));
    }

    void keep(const elastic::Plan&) override { trainer_.drop_all_but(mine()); }

    elastic::Outcome compute(const elastic::Plan& plan, const drive::AnyMessage& go) override {
        const Step step = go.to<Go>().step;
        auto& comm = training_ ? *training_ : *group_;
        if (pacing_) pacing_->begin(go.to_json(), plan_, position(plan_.training, self_));
        const auto held_before = links_->held();
        const auto result = trainer_.compute(step, plan_.holders, comm, hooks(step));
        auto done = drive::to_message(StepDone{self_, plan.epoch(), step, result.loads});
        done["loss"] = result.loss;
        if (pacing_) pacing_->report(done, (links_->held() - held_before).count());
        return {.wrong = elastic::not_finite(result.not_finite),
                .done = drive::AnyMessage::of_json(std::move(done))};
    }

    drive::AnyMessage apply(Step step) override {
        trainer_.apply(step);
        return {};
    }

    drive::AnyMessage write(const drive::AnyMessage& order, const drive::Strike& strike) override {
        const auto [step, blocks] = order.to<CheckpointShare>();
        try {
            nn::write_checkpoint(checkpoints_, step, trainer_, blocks, faults_.damage(strike));
            return CheckpointWritten{self_, step};
        } catch (const std::exception& error) {
            return CheckpointFailed{self_, step, error.what()};
        }
    }

    std::string damaged() override { return elastic::changed_in_memory(trainer_); }
    void suffer(const drive::Strike& strike) override { faults_.suffer(trainer_, strike); }
    void abort(const drive::AnyMessage& message) override {
        const auto [epoch, dead] = message.to<Abort>();
        groups_->abort({group_key(epoch), training_key(epoch)}, dead);
    }
    /// "finish".
    drive::AnyMessage answer(const drive::AnyMessage&) override {
        return Digests{trainer_.digests()};
    }

  private:
    StepHooks hooks(Step step) {
        StepHooks hooks;
        hooks.done = [this, step](StepHooks::Phase phase, int layer) {
            if (phase == StepHooks::Phase::dispatched && layer == 0) midway_(step);
            if (pacing_) pacing_->done(phase, layer);
        };
        if (pacing_)
            hooks.counted = [this](int layer, std::span<const Tokens> tokens) {
                pacing_->counted(layer, tokens);
            };
        return hooks;
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
    elastic::StateFaults faults_;
    std::filesystem::path checkpoints_;
    std::function<void(Step)> midway_;
    std::optional<StepPacing> pacing_;  // paced runs
    Reconfigure plan_;
    std::unique_ptr<Communicator> group_;     // plan_.members
    std::unique_ptr<Communicator> training_;  // plan_.training, where that differs
};

}  // namespace

int worker_main(cluster::WorkerId self, cluster::ControlChannel& control, const json& config) {
    at::set_num_threads(1);  // one code path, one order of additions
    const auto links =
        std::make_shared<cluster::LinkFaults>(self, config.at("training").at("seed"));
    drive::GroupWorker worker(self, control, config, links, fault_phases());
    TrainingMember member(self, config, links,
                          [&](Step step) { worker.wait_at(drive::step_point, step); });
    return worker.run(elastic::member(worker, member, {regroup_point, transfer_point}));
}

}  // namespace assay::lazarus
