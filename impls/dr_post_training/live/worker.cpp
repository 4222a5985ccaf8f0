#include "impls/dr_post_training/live/worker.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "impls/dr_post_training/live/guarded_training.hpp"
#include "impls/dr_post_training/live/session.hpp"
#include "impls/elastic/member.hpp"
#include "impls/elastic/state_faults.hpp"
#include "suite/cluster/faults/fault_layer.hpp"
#include "suite/drive/processes/group_worker.hpp"

namespace assay::dr_post_training {
namespace {

using nlohmann::json;

class TrainingMember final : public elastic::Member {
  public:
    /// `midway`: waits where faults strike in the middle of a step.
    TrainingMember(WorkerId self, const json& config, std::function<void(Step)> midway)
        : self_(self),
          settings_(drive::from_json<GuardedSettings>(config.at("training"))),
          training_(settings_),
          checkpoints_(config.at("checkpoints").get<std::string>()),
          faults_(settings_.seed),
          midway_(std::move(midway)) {}

    elastic::Plan plan(const drive::AnyMessage& message) override {
        return elastic::plan_of(message.to<Reconfigure>());
    }

    drive::AnyMessage take(const elastic::Plan& plan) override {
        const Step step = plan.resume;
        try {
            if (step == 0)
                training_.begin();
            else
                training_.read(checkpoint_file(checkpoints_, step), step);
        } catch (const BadCheckpoint& bad) {
            return RestoreFailed{self_, plan.epoch(), step, bad.what()};
        }
        said_ = training_.digest();
        return Ready{self_, plan.epoch(), said_};
    }

    elastic::Outcome compute(const elastic::Plan& plan, const drive::AnyMessage& go) override {
        if (!damaged().empty()) return {};  // nothing that comes of it would be believed
        const Step step = go.to<elastic::Go>().step;
        outcome_ = training_.compute(step, [&] { midway_(step); });
        return {.wrong = elastic::not_finite(outcome_.finite ? "" : "loss, a score or a gradient"),
                .done = StepDone{self_, plan.epoch(), step}};
    }

    drive::AnyMessage apply(Step step) override {
        training_.apply(step);
        said_ = training_.digest();
        auto applied = drive::to_message(Applied{self_, step, said_});
        applied["loss"] = outcome_.loss;
        applied["selections"] = outcome_.selections;
        return drive::AnyMessage::of_json(std::move(applied));
    }

    drive::AnyMessage write(const drive::AnyMessage& order, const drive::Strike& strike) override {
        const Step step = order.to<WriteCheckpoint>().step;
        try {
            training_.write(checkpoint_file(checkpoints_, step), step, faults_.damage(strike));
            return CheckpointWritten{self_, step};
        } catch (const std::system_error& error) {
            return CheckpointFailed{self_, step, error.what()};
        }
    }

    std::string damaged() override {
        const auto digest = training_.digest();
        return digest == said_ ? "" : fmt::format("the state is {}, not {}", digest, said_);
    }
    void suffer(const drive::Strike& strike) override { faults_.suffer(training_, strike); }
    drive::AnyMessage answer(const drive::AnyMessage& question) override {
        throw std::logic_error(fmt::format("the guard never says {}", question.name()));
    }

  private:
    WorkerId self_;
    GuardedSettings settings_;
    GuardedTraining training_;
    GuardedTraining::Outcome outcome_;
    std::string said_;  ///< digest of the state that the guard knows
    std::filesystem::path checkpoints_;
    elastic::StateFaults faults_;
    std::function<void(Step)> midway_;
};

}  // namespace

int worker_main(cluster::WorkerId self, cluster::ControlChannel& control, const json& config) {
    at::set_num_threads(1);  // one order of additions
    drive::GroupWorker worker(
        self, control, config,
        std::make_shared<cluster::LinkFaults>(self, config.at("training").at("seed")), {});
    TrainingMember member(self, config,
                          [&](Step step) { worker.wait_at(drive::step_point, step); });
    return worker.run(elastic::member(worker, member, {.outlives_damage = true}));
}

}  // namespace assay::dr_post_training
