#include "impls/dr_post_training/live/worker.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "impls/dr_post_training/live/guarded_training.hpp"
#include "impls/dr_post_training/live/session.hpp"
#include "suite/cluster/faults/fault_layer.hpp"
#include "suite/drive/processes/worker_process.hpp"

namespace assay::dr_post_training {
namespace {

using nlohmann::json;

class TrainingWorker {
  public:
    TrainingWorker(WorkerId self, cluster::ControlChannel& control, const json& config)
        : self_(self),
          settings_(drive::from_json<GuardedSettings>(config.at("training"))),
          training_(settings_),
          checkpoints_(config.at("checkpoints").get<std::string>()),
          process_(self, control, config,
                   std::make_shared<cluster::LinkFaults>(self, settings_.seed), {},
                   {.urgent = {}, .strikes = [this](const Fault& fault, std::size_t index) {
                        strike(fault, index);
                    }}) {}

    int run() {
        process_.join();
        while (auto message = process_.receive()) {
            const std::string type = message->at("type");
            if (type == "restore")
                restore(drive::message_to<Restore>(*message));
            else if (type == "compute")
                compute(drive::message_to<Compute>(*message));
            else if (type == "redo") {
                const auto redo = drive::message_to<Redo>(*message);
                compute({redo.worker, redo.step, redo.digest});
            } else if (type == "apply")
                apply(drive::message_to<Apply>(*message));
            else if (type == "write_checkpoint")
                write(drive::message_to<WriteCheckpoint>(*message));
            else if (type == "dismiss")
                return 0;
        }
        return 1;  // the supervisor is gone
    }

  private:
    template <class Message>
    void say(const Message& message) {
        process_.say(drive::to_message(message));
    }

    void strike(const Fault& fault, std::size_t index) {
        if (fault.kind == FaultKind::nan || fault.kind == FaultKind::corrupt)
            process_.struck(index);
        if (fault.kind == FaultKind::nan) training_.poison_next_step();
        if (fault.kind == FaultKind::corrupt) training_.flip_bit(settings_.seed * 31 + index);
        if (fault.kind == FaultKind::torn || fault.kind == FaultKind::disk_full)
            checkpoint_faults_.emplace_back(
                fault.kind == FaultKind::torn ? CheckpointFault::torn : CheckpointFault::disk_full,
                index);
    }

    /// Whether the state is the one that the order names; else says so.
    template <class Order>
    bool sound(const Order& order) {
        const auto digest = training_.digest();
        if (digest == order.digest) return true;
        say(StateDamaged{self_, order.step,
                         fmt::format("the state is {}, not {}", digest, order.digest)});
        return false;
    }

    void restore(const Restore& order) {
        try {
            if (order.step == 0)
                training_.begin();
            else
                training_.read(checkpoint_file(checkpoints_, order.step), order.step);
            say(Restored{self_, order.step, training_.digest()});
        } catch (const BadCheckpoint& bad) {
            say(RestoreFailed{self_, order.step, bad.what()});
        }
    }

    void compute(const Compute& order) {
        process_.wait_at(drive::start_point, order.step);
        if (!sound(order)) return;
        outcome_ =
            training_.compute(order.step, [&] { process_.wait_at(drive::step_point, order.step); });
        say(Computed{self_, order.step, outcome_.finite});
    }

    // A bit that flipped since the step was computed must not pass as part of the new state.
    void apply(const Apply& order) {
        if (!sound(order)) return;
        training_.apply(order.step);
        auto applied = drive::to_message(Applied{self_, order.step, training_.digest()});
        applied["loss"] = outcome_.loss;
        applied["selections"] = outcome_.selections;
        process_.say(applied);
    }

    void write(const WriteCheckpoint& order) {
        if (!sound(order)) return;
        auto fault = CheckpointFault::none;
        if (!checkpoint_faults_.empty()) {
            fault = checkpoint_faults_.front().first;
            process_.struck(checkpoint_faults_.front().second);
            checkpoint_faults_.pop_front();
        }
        try {
            training_.write(checkpoint_file(checkpoints_, order.step), order.step, fault);
            say(CheckpointWritten{self_, order.step});
        } catch (const std::system_error& error) {
            say(CheckpointFailed{self_, order.step, error.what()});
        }
    }

    WorkerId self_;
    GuardedSettings settings_;
    GuardedTraining training_;
    GuardedTraining::Outcome outcome_;
    std::filesystem::path checkpoints_;
    std::deque<std::pair<CheckpointFault, std::size_t>> checkpoint_faults_;
    drive::WorkerProcess process_;
};

}  // namespace

int worker_main(cluster::WorkerId self, cluster::ControlChannel& control, const json& config) {
    at::set_num_threads(1);  // one order of additions
    return TrainingWorker(self, control, config).run();
}

}  // namespace assay::dr_post_training
