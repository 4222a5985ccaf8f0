// A worker's protocol (worker.hpp) in the simulated world: a mailbox, and time that passes.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "suite/drive/simulated/world.hpp"
#include "suite/drive/worker.hpp"

namespace assay::drive {

class SimulatedWorker final : public Worker {
  public:
    struct Hooks {
        std::function<void(const nlohmann::json&)> says;   ///< a message reaches the policy
        std::function<void(const std::string& how)> ends;  ///< it threw, or went home
    };
    SimulatedWorker(WorkerId id, SimulatedWorld& world, WorkerProtocol protocol, Hooks hooks);

    void begin() { go_on(); }
    void deliver(nlohmann::json message);
    /// From now on its work takes `factor` times as long.
    void slow(double factor) { slowdown_ = factor; }

    WorkerId id() const override { return id_; }
    using Worker::say;
    void say(const nlohmann::json& message) override;

  private:
    bool can_take() override;
    std::optional<nlohmann::json> take() override;
    bool do_work(double modelled_s, const std::function<void()>& real) override;
    void go_on();

    WorkerId id_;
    SimulatedWorld& world_;
    Hooks hooks_;
    std::deque<nlohmann::json> mailbox_;
    bool receiving_ = false;
    double slowdown_ = 1;
    Protocol protocol_;
};

}  // namespace assay::drive
