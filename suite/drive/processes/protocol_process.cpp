#include "suite/drive/processes/protocol_process.hpp"

#include <algorithm>

#include "suite/cluster/pacer.hpp"
#include "suite/drive/processes/worker_process.hpp"

namespace assay::drive {

using nlohmann::json;

namespace {

class ProcessWorker final : public Worker {
  public:
    ProcessWorker(WorkerId self, cluster::ControlChannel& control, const json& config)
        : self_(self),
          process_(self, control, config, std::make_shared<cluster::LinkFaults>(self, 0),
                   FaultPhases{}, {}) {}

    void join() { process_.join(); }
    WorkerId id() const override { return self_; }

    using Worker::say;
    void say(const json& message) override {
        json timed = message;
        if (speed_ > 0) timed["at_s"] = free_s_;
        process_.say(timed);
    }

  private:
    bool can_take() override {
        while (true) {
            next_ = process_.receive();
            if (!next_ || !next_->contains("slowdown")) break;
            slowdown_ = next_->at("slowdown");
        }
        if (next_ && next_->contains("speed")) {
            at_s_ = next_->at("at_s");
            real_s_ = next_->at("real_s");
            speed_ = next_->at("speed");
            free_s_ = std::max(free_s_, at_s_);
        }
        return true;
    }
    std::optional<json> take() override { return std::move(next_); }

    bool do_work(double modelled_s, const std::function<void()>& real) override {
        if (real) real();
        if (speed_ <= 0) return true;
        free_s_ += slowdown_ * modelled_s;
        cluster::sleep_until(real_s_ + (free_s_ - at_s_) / speed_);
        return true;
    }

    WorkerId self_;
    WorkerProcess process_;
    std::optional<json> next_;
    double at_s_ = 0, real_s_ = 0, speed_ = 0;  ///< of the newest message; speed 0: not paced
    double free_s_ = 0;                         ///< when what was begun ends, in scenario time
    double slowdown_ = 1;
};

}  // namespace

cluster::WorkerMain process_of(WorkerProtocol protocol) {
    return [protocol](WorkerId self, cluster::ControlChannel& control, const json& config) {
        ProcessWorker worker(self, control, config);
        worker.join();
        auto running = protocol(worker);
        running.resume();  // it never waits but in receive() and work()
        return 0;
    };
}

}  // namespace assay::drive
