#include "impls/lazarus/live/worker.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>

#include "impls/lazarus/live/checkpoint.hpp"
#include "impls/lazarus/live/messages.hpp"
#include "impls/lazarus/live/monotonic_clock.hpp"
#include "impls/lazarus/live/state_transfer.hpp"
#include "impls/lazarus/live/trainer.hpp"
#include "suite/cluster/gloo/gloo.hpp"

namespace assay::lazarus {
namespace {

using cluster::Communicator;
using cluster::CommunicatorBroken;
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
          control_(control),
          training_config_(training_config_from(config.at("training"))),
          corpus_(training_config_.corpus),
          trainer_(training_config_, corpus_),
          gloo_(std::make_shared<cluster::GlooContext>(gloo_options(config))),
          checkpoints_(config.at("checkpoints").get<std::string>()) {
        for (const auto& point : config.at("points"))
            points_.push_back({point.at("phase"), point.at("step")});
        // Not `this`: the channel's listener outlives the worker.
        control_.start(cluster::Seconds(config.at("heartbeat_s").get<double>()),
                       [gloo = gloo_](const json& message) {
                           if (message.value("type", "") == "abort") {
                               const Epoch epoch = message.at("epoch");
                               const auto why = "worker " +
                                                std::to_string(message.at("dead").get<int>()) +
                                                " is gone";
                               gloo->abort(group_key(epoch), why);
                               gloo->abort(training_key(epoch), why);
                           }
                       });
    }

    int run() {
        control_.send({{"type", "joined"}});
        while (auto message = next_message()) {
            const std::string type = message->at("type");
            if (type == "reconfigure")
                guarded(message->at("epoch"), [&] { reconfigure(*message); });
            else if (type == "go")
                guarded(message->at("epoch"), [&] { compute(*message); });
            else if (type == "commit")
                trainer_.apply(message->at("step"));
            else if (type == "checkpoint")
                checkpoint(*message);
            else if (type == "stop_requested")
                control_.send({{"type", "leave_requested"}});
            else if (type == "dismiss")
                return 0;
            else if (type == "finish")
                control_.send(digests_message(trainer_.digests()));
        }
        return 1;  // the supervisor is gone
    }

  private:
    // Messages that arrived while the worker waited at a fault point come first.
    std::optional<json> next_message() {
        if (!deferred_.empty()) {
            auto message = std::move(deferred_.front());
            deferred_.pop_front();
            return message;
        }
        return control_.receive();
    }

    // A broken group is reported and otherwise left alone: the controller decides what comes next.
    template <class Body>
    void guarded(Epoch epoch, Body body) {
        try {
            body();
        } catch (const CommunicatorBroken& broken) {
            control_.send({{"type", "broken"},
                           {"epoch", epoch},
                           {"why", broken.what()},
                           {"clock_s", clock_s()}});
        }
    }

    void wait_at(const char* phase, Step step) {
        const auto reached = std::find_if(points_.begin(), points_.end(), [&](const FaultPoint& p) {
            return p.phase == phase && (p.phase == "step" ? p.step == step : p.step <= step);
        });
        if (reached == points_.end()) return;
        points_.erase(reached);
        control_.send({{"type", "at_point"}, {"phase", phase}, {"step", step}});
        while (auto message = control_.receive()) {
            if (message->at("type") == "continue") return;
            deferred_.push_back(std::move(*message));
        }
    }

    void reconfigure(const json& message) {
        plan_ = reconfigure_from(message);
        training_.reset();
        group_.reset();
        wait_at("regroup", plan_.resume_step);
        const double started = clock_s();
        group_ = gloo_->make_group(group_key(plan_.epoch), position(plan_.members, self_),
                                   static_cast<int>(plan_.members.size()));
        const int rank = position(plan_.training, self_);
        if (plan_.training != plan_.members && rank >= 0)
            training_ = gloo_->make_group(training_key(plan_.epoch), rank,
                                          static_cast<int>(plan_.training.size()));
        const double grouped = clock_s();
        wait_at("transfer", plan_.resume_step);
        TransferReport moved;
        const double transfer_started = clock_s();
        if (plan_.restore_step) {
            try {
                if (rank >= 0) read_checkpoint(checkpoints_, *plan_.restore_step, trainer_, mine());
            } catch (const CheckpointError& error) {
                control_.send({{"type", "checkpoint_unreadable"}, {"why", error.what()}});
                return;
            }
        } else {
            moved = transfer_state(plan_, *group_, trainer_);
        }
        control_.send({{"type", "ready"},
                       {"epoch", plan_.epoch},
                       {"group_s", grouped - started},
                       {"transfer_s", clock_s() - transfer_started},
                       {"blocks", moved.blocks_received},
                       {"bytes", moved.bytes_received}});
    }

    void compute(const json& message) {
        const Step step = message.at("step");
        trainer_.drop_all_but(mine());
        auto& comm = training_ ? *training_ : *group_;
        const auto result = trainer_.compute(step, plan_.holders, comm, [&](int layer) {
            if (layer == 0) wait_at("step", step);
        });
        control_.send(step_done(plan_.epoch, step, result));
    }

    // A checkpoint that cannot be written (a full disk) is a loss of safety, not of training.
    void checkpoint(const json& message) {
        const Step step = message.at("step");
        try {
            write_checkpoint(checkpoints_, step, trainer_, checkpoint_blocks_from(message));
            control_.send({{"type", "checkpoint_written"}, {"step", step}});
        } catch (const std::exception& error) {
            control_.send({{"type", "checkpoint_failed"}, {"step", step}, {"why", error.what()}});
        }
    }

    std::vector<BlockKey> mine() const {
        return blocks_of(plan_.holders, position(plan_.training, self_));
    }

    Worker self_;
    cluster::ControlChannel& control_;
    TrainingConfig training_config_;
    nn::ByteCorpus corpus_;
    Trainer trainer_;
    std::shared_ptr<cluster::GlooContext> gloo_;
    std::filesystem::path checkpoints_;
    std::vector<FaultPoint> points_;
    std::deque<json> deferred_;
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
