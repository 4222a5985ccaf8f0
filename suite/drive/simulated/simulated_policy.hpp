// The simulated driver for a policy and a worker's protocol: no processes, virtual time.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/drive/policy_run.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/simulated_worker.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::drive {

/// The same latency for every message, and for every detection.
class ConstantLatencies final : public Latencies {
  public:
    ConstantLatencies(double message_s, double detect_s)
        : message_s_(message_s), detect_s_(detect_s) {}
    double message(WorkerId) override { return message_s_; }
    double detection(WorkerId) override { return detect_s_; }

  private:
    double message_s_, detect_s_;
};

/// Throws NotSupportedHere where a fault cannot be simulated: those keyed by a time can, of kind
/// kill, hang, stop, join and slow.
void require_simulated(const FaultPlan& plan);

template <Policy P>
class SimulatedPolicy final : public PolicyRun<P> {
  public:
    SimulatedPolicy(P policy, WorkerProtocol protocol, VirtualTime& time, Latencies& latencies,
                    Recorder& recorder)
        : PolicyRun<P>(std::move(policy)),
          protocol_(protocol),
          time_(time),
          world_(time, latencies),
          latencies_(latencies),
          recorder_(recorder) {}

    /// `workers` are there at the beginning. Ends with the policy's Stop.
    PolicyCourse<P> run(int workers, const FaultPlan& faults) {
        require_simulated(faults);
        arrive(workers);
        for (const Fault& fault : faults.faults)
            time_.at(*fault.t_s, [this, fault] { strike(fault); });
        while (!this->over()) {
            if (!time_.next()) this->tell_idle();
        }
        return std::move(this->course());
    }

  private:
    double now() const override { return time_.now(); }
    void ended() override {}
    void start_timer(const StartTimer& timer) override {
        time_.after(timer.after_s, [this, id = timer.id] { this->tell(Timer{id}); });
    }
    void evict(const Evict& evict) override {
        recorder_.event("evict", now(), evict.worker, {{"why", evict.why}});
        kill(evict.worker, "evicted");
    }
    void send(WorkerId to, const nlohmann::json& message) override {
        world_.to_worker(to, [this, to, message] { at(to).deliver(message); });
    }

    // Those who come at one moment are told of together.
    void arrive(int count) {
        for (int i = 0; i < count; ++i) {
            const WorkerId id = world_.add();
            workers_.push_back(std::make_unique<SimulatedWorker>(
                id, world_, protocol_,
                SimulatedWorker::Hooks{
                    .says = [this](const nlohmann::json& message) { this->tell_message(message); },
                    .ends = [this, id](const std::string& how) { kill(id, how); }}));
            at(id).begin();
            recorder_.event("join", now(), id, nlohmann::json::object());
            const bool more = i + 1 < count;
            world_.to_policy(id, [this, id, more] { this->tell(Joined{id, more}); });
        }
    }

    void strike(const Fault& fault) {
        if (fault.kind == FaultKind::join) {
            for (int i = 0; i < fault.count; ++i)
                struck(fault, static_cast<WorkerId>(workers_.size()) + i);
            return arrive(fault.count);
        }
        const WorkerId target = *fault.rank;
        if (target >= static_cast<WorkerId>(workers_.size()) || !world_.alive(target)) return;
        struck(fault, target);
        switch (fault.kind) {
            case FaultKind::kill:
                return kill(target, "killed");
            case FaultKind::stop:
                recorder_.event("leave", now(), target, nlohmann::json::object());
                return world_.to_policy(target,
                                        [this, target] { this->tell(LeaveRequested{target}); });
            case FaultKind::hang:
                return hang(target, fault.for_s);
            default:
                at(target).slow(fault.factor);
                if (fault.for_s) time_.after(*fault.for_s, [this, target] { at(target).slow(1); });
        }
    }

    // One that is frozen for longer than a death takes to notice counts as dead, and is ended.
    void hang(WorkerId worker, std::optional<double> for_s) {
        const double patience = latencies_.detection(worker);
        if (for_s && *for_s < patience) return world_.freeze(worker, now() + *for_s);
        world_.freeze(worker, SimulatedWorld::forever);
        kill(worker, "frozen");
    }

    void kill(WorkerId worker, const std::string& how) {
        world_.kill(worker, [this, worker, how] {
            recorder_.event("death", now(), worker, {{"how", how}});
            this->tell(Died{worker});
        });
    }

    void struck(const Fault& fault, WorkerId worker) {
        recorder_.event("fault", now(), worker,
                        {{"kind", to_string(fault.kind)}, {"fault", to_string(fault)}});
    }

    SimulatedWorker& at(WorkerId id) { return *workers_[static_cast<std::size_t>(id)]; }

    WorkerProtocol protocol_;
    VirtualTime& time_;
    SimulatedWorld world_;
    Latencies& latencies_;
    Recorder& recorder_;
    std::vector<std::unique_ptr<SimulatedWorker>> workers_;
};

}  // namespace assay::drive
