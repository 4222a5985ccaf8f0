// A running training: its course (driver.cpp), what happens to it (session_events.cpp) and what is
// done about it (session_actions.cpp). Internal to run_training().
#pragma once

#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "impls/lazarus/live/driver.hpp"
#include "impls/lazarus/live/fault_injector.hpp"
#include "impls/lazarus/training/checkpoint.hpp"
#include "suite/cluster/gloo/gloo.hpp"

namespace assay::lazarus {

class Session {
  public:
    Session(std::unique_ptr<cluster::Launcher> launcher, const SessionOptions& options,
            Recorder& recorder);
    SessionResult run();

  private:
    // ---- its course --------------------------------------------------------------------------
    double now() const { return clock_.now(); }
    bool is_member(Worker worker) const;
    bool paced() const { return pacing_.has_value(); }

    Worker spawn();
    void decide(const Event& event);
    void end_if_nobody_can_come();
    void end_of_time();
    void time_is_up();
    void collect_digests();

    // ---- what happens ------------------------------------------------------------------------
    void handle(const cluster::Interrupted&);
    void handle(const cluster::TimerFired&);
    void handle(const cluster::WorkerDied&);
    void handle(const cluster::WorkerMessage&);
    void record_death(const cluster::WorkerDied&);
    void on_step_done(Worker worker, const nlohmann::json& body);
    void on_ready(Worker worker, const nlohmann::json& body);
    void on_broken(Worker worker, const nlohmann::json& body);
    void on_fault(const Fault& fault, Worker worker, std::string_view means);
    void keep_time(const Fault& fault, Worker worker);
    void act_on_suspicion();
    void report_group_broken(GroupBroken::Cause cause, Worker suspect, const std::string& why);
    void end_suspicion();
    void forget_broken_group();
    bool holds_commit() const { return faults_.holds_commit() || end_timer_; }
    void release_held();
    void announce_joined();
    void run_clock_again();

    // ---- what is done about it ---------------------------------------------------------------
    void act(const Reconfigure&);
    void act(const Go&);
    void act(const Commit&);
    void act(const WriteCheckpoint&);
    void act(const Abort&);
    void act(const Evict&);
    void act(const Dismiss&);
    void act(const StartTimer&);
    void act(const Stop&);
    void forget_step();
    void send_go(const Go& go, double start_s);

    const SessionOptions& options_;
    Recorder& recorder_;
    cluster::RendezvousServer rendezvous_;
    cluster::Supervisor supervisor_;
    ScenarioClock clock_;
    ScenarioTimers timers_;
    std::optional<PacedTime> pacing_;
    Controller controller_;
    CheckpointRetention retention_;
    RecoveryLog recoveries_;
    FaultInjector faults_;
    Worker next_worker_ = 0;

    // Of the epoch in force.
    Epoch epoch_ = 0;
    std::vector<Worker> members_;          // in rank order
    std::vector<Worker> training_;         // those of them that train
    std::optional<double> epoch_started_;  // while it is being formed
    double epoch_started_real_s_ = 0;
    ReconfigurationRecord forming_;
    std::string why_;
    std::optional<std::uint64_t> go_timer_;  // paced: the first step waits for the modelled cost
    double step_started_ = 0;

    std::vector<Worker> joined_;  // not told to the controller yet
    std::set<Worker> dismissed_;
    std::deque<StepDone> held_;               // while holds_commit()
    std::optional<std::uint64_t> end_timer_;  // paced: the running step's modelled end is ahead
    std::map<Step, double> losses_;
    std::map<Worker, double> injected_;  // those whose end was asked for, and when (real seconds)
    std::set<Worker> unresolved_;        // … and that are not gone yet
    std::map<std::uint64_t, Worker> overdue_;     // timer: one of them has come back after all
    bool death_in_epoch_ = false;                 // a member's death causes the next plan
    std::vector<Disturbance> open_disturbances_;  // no step has been committed since
    std::string unexpected_death_;

    std::optional<std::uint64_t> suspicion_;  // timer: a group broke, no death has explained it yet
    std::string broken_why_;
    std::vector<Worker> reporters_;         // members whose group of this epoch broke
    std::optional<Epoch> broken_reported_;  // the epoch whose breaking the controller knows of

    bool training_started_ = false;
    bool time_is_up_ = false;
    bool ending_ = false;
    SessionResult result_;
};

}  // namespace assay::lazarus
