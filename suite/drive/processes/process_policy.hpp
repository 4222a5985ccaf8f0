// The real and the paced driver for a policy and a worker's protocol, across processes.
#pragma once

#include <algorithm>
#include <optional>

#include "suite/drive/policy_run.hpp"
#include "suite/drive/processes/process_driver.hpp"
#include "suite/drive/processes/protocol_process.hpp"

namespace assay::drive {

template <Policy P>
class ProcessPolicy final : public PolicyRun<P>, private ProcessSession {
  public:
    /// `launcher`: of process_of(protocol). `options.pace`: real or steady. `detect_s`: paced, the
    /// scenario seconds after which a modelled cluster knows of a death.
    ProcessPolicy(P policy, std::unique_ptr<cluster::Launcher> launcher,
                  const ProcessOptions& options, double detect_s, Recorder& recorder)
        : PolicyRun<P>(std::move(policy)),
          paced_(options.pace == Pace::steady),
          detect_s_(detect_s),
          driver_(std::move(launcher), options, recorder, *this) {}

    PolicyCourse<P> run(int workers) {
        awaited_ = workers;
        driver_.run(workers);
        this->course().worst_late_s = paced_ ? worst_late_s_ : 0;
        return std::move(this->course());
    }

  private:
    double now() const override { return paced_ ? told_s_ : driver_.now(); }
    void ended() override { driver_.end(); }
    void start_timer(const StartTimer& timer) override {
        at(now() + timer.after_s, [this, id = timer.id] { this->tell(Timer{id}); });
    }
    void evict(const Evict& evict) override { driver_.evict(evict); }
    void send(WorkerId to, const nlohmann::json& message) override {
        nlohmann::json timed = message;
        if (paced_) {
            timed["at_s"] = now();
            timed["real_s"] = driver_.clock().real_of(now());
            timed["speed"] = driver_.clock().speed();
        }
        driver_.send(to, timed);
    }

    // ---- drive::ProcessSession ---------------------------------------------------------------
    nlohmann::json configuration(WorkerId) override { return nlohmann::json::object(); }

    // The scenario begins when all of the first workers are there.
    void joined(WorkerId worker, bool more) override {
        ++joined_;
        if (joined_ < awaited_) return;
        if (joined_ > awaited_) return came(worker, more);
        driver_.begin();
        for (WorkerId first = 0; first < awaited_; ++first) came(first, first + 1 < awaited_);
    }
    void came(WorkerId worker, bool more) {
        at(driver_.now(), [this, worker, more] { this->tell(Joined{worker, more}); });
    }
    void died(WorkerId worker) override {
        at(driver_.now() + (paced_ ? detect_s_ : 0), [this, worker] { this->tell(Died{worker}); });
    }
    void leave_requested(WorkerId worker) override {
        at(driver_.now(), [this, worker] { this->tell(LeaveRequested{worker}); });
    }
    void said(WorkerId, const nlohmann::json& message) override {
        at(message.value("at_s", driver_.now()), [this, message] { this->tell_message(message); });
    }
    void slowed(WorkerId worker, double factor) override {
        driver_.send(worker, nlohmann::json{{"type", "slow"}, {"slowdown", factor}});
    }
    void blamed(const Suspicion::Blame&) override {}
    void failed(const std::string& why) override { this->end(false, why); }
    bool waits() const override {
        return driver_.begun() && driver_.alive().empty() && under_way_ == 0;
    }
    void idle() override { this->tell_idle(); }

    // The policy is told of what happens at its time of the scenario, however late the machine is;
    // but time does not go back.
    void at(double t_s, std::function<void()> happens) {
        const double late = driver_.now() - t_s;
        if (late < 0) {
            ++under_way_;
            driver_.timers().at(t_s, [this, t_s, happens = std::move(happens)] {
                --under_way_;
                told_s_ = std::max(told_s_, t_s);
                happens();
            });
            return;
        }
        worst_late_s_ = std::max(worst_late_s_, late);
        told_s_ = std::max(told_s_, t_s);
        happens();
    }

    bool paced_;
    double detect_s_;
    int awaited_ = 0, joined_ = 0;
    long under_way_ = 0;  ///< of what the policy is to be told later
    double told_s_ = 0, worst_late_s_ = 0;
    ProcessDriver driver_;
};

}  // namespace assay::drive
