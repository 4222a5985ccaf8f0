// Workers of several roles in processes of their own: in real time, or paced.
//
// Paced, scenario time runs at one speed and never stands still. What happens is told of when the
// modelled cluster would tell of it, in the order of that time: deaths `detect_s` after they
// struck, joins `boot_s` after their spawn, words when their worker's device would be done. To keep
// the order, the driver waits for workers that may still have something earlier to say; how much
// later than the modelled cluster it tells is counted. So a paced run decides what a simulated one
// decides, however busy the machine is.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "suite/drive/driver.hpp"
#include "suite/drive/processes/fault_driver.hpp"
#include "suite/drive/processes/process_options.hpp"
#include "suite/drive/simulated/virtual_transfers.hpp"
#include "suite/drive/workers/meetings.hpp"
#include "suite/drive/workers/offering.hpp"
#include "suite/drive/workers/roster.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::drive {

class ProcessDriver final : public Driver {
  public:
    /// Makes a fork server for the roles' protocols, so in a process with one thread.
    /// `options.pace`: real or steady.
    ProcessDriver(std::vector<Role> roles, ProcessOptions options, Recorder& recorder);
    /// Workers are what `launcher` starts, in place of the roles' protocols.
    ProcessDriver(std::vector<Role> roles, std::unique_ptr<cluster::Launcher> launcher,
                  ProcessOptions options, Recorder& recorder);

    double now() const override { return paced_ ? told_s_ : clock_.now(); }
    /// Throws SampleError(interrupted) on SIGINT, SIGTERM or a lost lifeline.
    bool turn(double most_s = std::numeric_limits<double>::infinity()) override;
    WorkerId spawn(const Spawn& spawn, nlohmann::json configuration = {}) override;
    void send(WorkerId worker, const AnyMessage& message) override;
    void start(const StartTimer& timer) override;
    void start(const Transfer& transfer) override;
    void dismiss(WorkerId worker) override;
    void evict(const Evict& evict) override;
    void strike(const Fault& fault) override;
    bool alive(WorkerId worker) const override { return roster_.at(worker).how.empty(); }
    const std::string& how_ended(WorkerId worker) const override { return roster_.at(worker).how; }
    long faults_struck() const override { return faults_.fired(); }
    double worst_late_s() const override { return worst_late_s_; }
    cluster::Supervisor& supervisor() { return supervisor_; }

  private:
    struct Process {
        bool joined = false, exited = false;
        std::string how;      ///< it exited
        double doomed_s = 0;  ///< what it says after this does not count …
        bool doomed = false;  ///< … since it was struck then
        double until_s = 0;   ///< it says nothing before
        bool rests = false;   ///< nor after, unless it is sent something
        bool interruptible = false;
        bool meets = false;                 ///< … or unless what it does together comes out
        long heard = 0;                     ///< messages that it has taken
        std::deque<double> unheard_s;       ///< when the others were sent
        std::optional<std::uint16_t> port;  ///< where transfers to it go …
        std::vector<Transfer> before_port;  ///< … which waits for that
        long round = 0;                     ///< of what it does together
        double sign_s = 0;                  ///< its last sign of progress
        bool watched = false, asked_to_leave = false;
    };
    static constexpr double never = std::numeric_limits<double>::infinity();
    using What = std::function<void()>;
    /// Scenario time; at equal times the driver's own business (-1) comes before what workers say,
    /// in the order of their ids.
    using Moment = std::pair<double, WorkerId>;

    // ---- time --------------------------------------------------------------------------------
    /// At scenario time t_s, in order.
    void at(double t_s, What what) { queue_.emplace(Moment{t_s, -1}, std::move(what)); }
    bool flush_one();
    /// Nothing that is still to be heard of happened before that.
    Moment least_bound() const;
    double bound(const Process& process) const;
    bool nothing_left() const;
    void begin_if_all_are_there();
    bool tell_idle();

    // ---- what the supervisor reports ---------------------------------------------------------
    bool handle(cluster::WorkerMessage& message);  ///< takes its body
    bool handle(const cluster::WorkerDied& death);
    bool handle(const cluster::TimerFired& timer);
    bool handle(const cluster::Interrupted& interrupted);
    void on_frame(WorkerId worker, Process& process, const nlohmann::json& frame);
    void on_joined(WorkerId worker, Process& process);
    void on_arrives(WorkerId worker, Process& process, const nlohmann::json& frame);
    void heard(Process& process, const nlohmann::json& frame);
    void sign(WorkerId worker, Process& process, const nlohmann::json& frame);

    // ---- coming and going --------------------------------------------------------------------
    WorkerId add(const Spawn& spawn, nlohmann::json configuration);
    void let_begin(WorkerId worker, double at_s);
    WorkerId join(const Fault& fault, bool more);
    /// `more`: those that come at one moment are told of together.
    void come(WorkerId worker, bool more);
    /// It was struck now: paced, its death is told of when the modelled cluster knows.
    void doom(WorkerId worker, const std::string& how);
    void doom(WorkerId worker, const std::string& how, double known_after_s);
    void die(WorkerId worker, const std::string& how);
    /// Transfers, and what others do together with it.
    void end_what_needs(WorkerId worker);
    void send_frame(WorkerId worker, nlohmann::json frame);
    void break_for(const std::vector<WorkerId>& members);
    void met(WorkerId worker, bool broken);
    void watch(WorkerId worker, double from_s);

    void on_fault(const Fault& fault, WorkerId worker, std::string_view means);
    void inject(const nlohmann::json& message, WorkerId worker);

    // ---- transfers (process_driver_transfers.cpp) --------------------------------------------
    /// Scenario time, for what models it.
    class QueueTime final : public VirtualTime {
      public:
        explicit QueueTime(ProcessDriver& driver) : driver_(driver) {}
        double now() const override { return driver_.now(); }
        Id at(double t_s, Callback what) override;
        void cancel(Id id) override { waiting_.erase(id); }
        bool next(double) override { return false; }  // the driver's turn
        bool empty() const override { return waiting_.empty(); }
        std::uint64_t happened() const override { return happened_; }

      private:
        ProcessDriver& driver_;
        std::set<Id> waiting_;
        Id ids_ = 0;
        std::uint64_t happened_ = 0;
    };
    struct UnderWay {
        Transfer order;
        std::optional<double> begun_s{};       ///< both ends have their orders since then
        bool arrived = false, broken = false;  ///< really
    };
    bool begin_transfer(const Transfer& transfer);
    void arrived(std::uint64_t id);
    void broken(std::uint64_t id, std::uint64_t done);
    void tell_ended();
    bool forget(std::uint64_t id);
    void tell_arrived(std::uint64_t id);
    /// What becomes of those of a worker that died.
    void break_transfers(WorkerId worker);

    Process& process(WorkerId worker) { return processes_.at(static_cast<std::size_t>(worker)); }

    ProcessOptions options_;
    bool paced_;
    Recorder& recorder_;
    Roster roster_;
    cluster::Supervisor supervisor_;
    ScenarioClock clock_;
    FaultDriver faults_;
    Offering offering_;
    Meetings meetings_;
    std::deque<Process> processes_;
    std::multimap<Moment, What> queue_;
    double told_s_ = 0, worst_late_s_ = 0;
    QueueTime queue_time_{*this};
    VirtualTransfers modelled_{queue_time_};  // paced
    std::map<std::uint64_t, UnderWay> under_way_;
    /// Paced: when they have arrived on the modelled cluster, but not told of yet.
    std::deque<std::pair<double, std::uint64_t>> ended_;
    std::map<WorkerId, std::deque<std::size_t>> corrupts_;  // paced: faults of its next transfers
    std::map<WorkerId, std::vector<std::pair<std::uint64_t, std::uint64_t>>> stopped_;
    int there_ = 0;  // workers that no death was told of, nor dismissed
    bool begun_ = false, idle_ = false;
    long turns_ = 0;
};

}  // namespace assay::drive
