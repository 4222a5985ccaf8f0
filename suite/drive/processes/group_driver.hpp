// Drives a training whose workers form groups that make steps together, across processes: in real
// time, or paced by steps. It owns the clock, timers, the workers and what they say, the faults and
// who is to blame for a broken group; the system's session turns what happens into its policy's
// events and the policy's actions into messages.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "suite/drive/processes/fault_driver.hpp"
#include "suite/drive/processes/process_options.hpp"
#include "suite/drive/processes/timekeeper.hpp"
#include "suite/drive/recovery_log.hpp"
#include "suite/drive/suspicion.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::drive {

/// What a system does about what befalls its workers.
class GroupSession {
  public:
    virtual ~GroupSession() = default;
    /// Of a worker about to be started; the driver adds what is its own (worker_process.hpp).
    virtual nlohmann::json configuration(WorkerId) = 0;
    virtual void joined(WorkerId, bool more) = 0;
    virtual void died(WorkerId) = 0;
    virtual void leave_requested(WorkerId) = 0;
    virtual void said(WorkerId, const nlohmann::json& message) = 0;
    virtual void blamed(const Suspicion::Blame&) = 0;
    /// It cannot go on, for a reason that has nothing to do with the policy.
    virtual void failed(const std::string& why) = 0;
    /// No worker's coming or going is awaited any more (GroupDriver::awaits_a_worker).
    virtual void settled() {}
    virtual void struck(const Fault&) {}
    /// Paced: from now on a worker's modelled operations take `factor` times as long.
    virtual void slowed(WorkerId, double) {}
    /// The work has lasted as long as it was to. Called again where no worker is at work.
    virtual void time_is_up() {}
    /// None is at work, and only newcomers could change that …
    virtual bool waits() const = 0;
    /// … and none will come.
    virtual void idle() = 0;
};

class GroupDriver {
  public:
    GroupDriver(std::unique_ptr<cluster::Launcher> launcher, ProcessOptions options,
                Recorder& recorder, GroupSession& session);

    /// Starts `workers` and turns until end(). Throws SampleError(interrupted) on SIGINT, SIGTERM
    /// or a lost lifeline, NotSupportedHere where this machine has no room for so many.
    void run(int workers);
    void end() { ending_ = true; }
    bool ending() const { return ending_; }
    /// After the end: hears what workers still say until `done`, at most so many real seconds.
    /// Returns whether it came to that.
    bool hear_until(double seconds, const std::function<bool()>& done);

    double now() const { return clock_.now(); }
    const ScenarioClock& clock() const { return clock_; }
    Timekeeper& time() { return *time_; }
    ScenarioTimers& timers() { return timers_; }

    // ---- workers -----------------------------------------------------------------------------
    /// Starts one more; it joins, or dies.
    WorkerId spawn();
    void send(const std::vector<WorkerId>& to, const nlohmann::json& message) {
        supervisor_.send(to, message);
    }
    void send(WorkerId to, const nlohmann::json& message) { supervisor_.send(to, message); }
    bool alive(WorkerId worker) const { return supervisor_.alive(worker); }
    std::vector<WorkerId> alive() const { return supervisor_.alive(); }
    /// It goes in order, and its end is no death.
    void dismiss(WorkerId worker, const nlohmann::json& message);
    void evict(const Evict& evict);
    /// A worker's coming or going is on its way: hold back what would end the step, so that it
    /// takes effect from the next one on.
    bool awaits_a_worker() const { return faults_.holds_commit(); }

    // ---- groups and steps --------------------------------------------------------------------
    /// A new plan is in force: `members` build their group.
    void group_forms(Epoch epoch, const std::vector<WorkerId>& members);
    /// All of them have said that they are ready.
    void group_is_ready() { forming_ = false; }
    /// It works from `t_s` on; the first one begins the scenario.
    void group_works(double t_s);
    /// Scenario time begins, with the faults and the duration that are counted by it.
    void begin();
    bool begun() const { return begun_; }
    void step_begins(long step) { faults_.on_step(step); }
    /// A member's death has not been followed by a group that works.
    bool lost_a_member() const { return lost_a_member_; }

    // ---- what became of it -------------------------------------------------------------------
    long faults_fired() const { return faults_.fired(); }
    long joins() const { return joins_; }  ///< workers that reported after the initial ones
    const std::vector<RecoveryTimes>& recoveries() const { return recoveries_.recoveries(); }
    /// Real seconds from a kill to the supervisor knowing.
    const std::vector<double>& detections_real_s() const { return detections_real_s_; }
    /// A worker that ended unasked: who, and how. Empty: none did.
    const std::string& unexpected_death() const { return unexpected_death_; }

  private:
    bool is_member(WorkerId worker) const;

    void handle(const cluster::Interrupted&);
    void handle(const cluster::TimerFired&);
    void handle(const cluster::WorkerDied&);
    void handle(const cluster::WorkerMessage&);
    void on_joined(WorkerId worker);
    void on_broken(WorkerId worker, const nlohmann::json& body);
    void record_death(const cluster::WorkerDied&);
    void announce_joined();
    void look_around();

    void suspect(const Suspicion::Event& event);
    void act(const StartTimer&);
    void act(const Suspicion::Blame&);

    // group_driver_faults.cpp
    void on_fault(const Fault& fault, WorkerId worker, std::string_view means);
    void keep_time(const Fault& fault, WorkerId worker);
    void slow(WorkerId worker, double factor);
    void run_clock_again();
    void end_if_none_can_come();

    ProcessOptions options_;
    Recorder& recorder_;
    GroupSession& session_;
    cluster::Supervisor supervisor_;
    ScenarioClock clock_;
    ScenarioTimers timers_;
    std::unique_ptr<Timekeeper> time_;
    FaultDriver faults_;
    Suspicion suspicion_;
    RecoveryLog recoveries_;

    WorkerId next_worker_ = 0;
    int initial_workers_ = 0;
    std::optional<Epoch> epoch_;     ///< of the group in force; nothing: workers form no groups
    std::vector<WorkerId> members_;  ///< of it, in rank order
    bool forming_ = false;           ///< its members are not all ready
    bool begun_ = false, ending_ = false, time_is_up_ = false, lost_a_member_ = false;
    std::vector<WorkerId> joined_;  ///< not told to the session yet
    std::set<WorkerId> dismissed_;
    std::map<WorkerId, double> injected_;  ///< whose end was asked for, and when (real seconds)
    std::set<WorkerId> unresolved_;        ///< … and that are not gone yet
    std::map<std::uint64_t, WorkerId> overdue_;  ///< timer: it has come back after all
    std::map<std::uint64_t, std::uint64_t> suspicion_timers_;  ///< the supervisor's: the policy's
    std::vector<double> detections_real_s_;
    std::string unexpected_death_;
    long joins_ = 0;
};

}  // namespace assay::drive
