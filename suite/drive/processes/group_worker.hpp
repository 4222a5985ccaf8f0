// A worker of a GroupDriver whose protocol is a coroutine (worker.hpp): in a process of its own, in
// real time. Groups are those of the driver: what breaks one is reported, with whom to suspect.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "suite/drive/processes/worker_process.hpp"
#include "suite/drive/worker.hpp"

namespace assay::drive {

class GroupWorker final : public Worker {
  public:
    /// As WorkerProcess.
    GroupWorker(WorkerId self, cluster::ControlChannel& control, const nlohmann::json& config,
                std::shared_ptr<cluster::LinkFaults> links, FaultPhases phases);

    /// Joins, and runs the protocol to its end. The process' exit status: 0 where it was dismissed,
    /// 1 where the driver is gone.
    int run(Protocol protocol);
    /// point(), inside real work. That is where the middle of a step is: point(step_point) itself
    /// passes.
    void wait_at(const std::string& phase, long step) { process_.wait_at(phase, step); }

    WorkerId id() const override { return self_; }
    void say(AnyMessage message) override { process_.say(message.to_json()); }
    void urgent(std::function<void(const AnyMessage&)> handler) override;

    // What workers in groups have no use for: std::logic_error.
    void beside(double, std::function<void()>, AnyMessage) override;
    void offer(const std::string&, const Bytes&) override;
    void accept(const std::string&, const Bytes&) override;
    void withdraw(const std::string&) override;

  private:
    struct UrgentHandler {
        std::mutex calling;
        std::function<void(const AnyMessage&)> handler;
    };

    const nlohmann::json& configured() const override { return configuration_; }
    bool can_take(bool wait) override;
    std::optional<AnyMessage> take() override { return std::exchange(next_, std::nullopt); }
    bool begin_work(double, const std::function<void()>& real) override;
    bool begin_interruptible(double modelled_s, Interrupts by) override;
    bool begin_point(std::string_view phase, long step) override;
    bool begin_together(const Group& group, double, const std::function<void()>& real) override;
    bool lasted() const override { return true; }
    Together outcome() const override { return outcome_; }
    std::optional<Fault> take_strike(FaultKind kind) override;

    WorkerId self_;
    nlohmann::json configuration_;
    std::shared_ptr<UrgentHandler> urgent_;  // the channel's listener outlives the worker
    std::deque<std::pair<Fault, std::size_t>> faults_;  // inside it, and their numbers
    WorkerProcess process_;
    std::optional<AnyMessage> next_;
    bool dismissed_ = false;
    Together outcome_ = Together::done;
};

}  // namespace assay::drive
