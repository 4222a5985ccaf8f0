// A cluster in virtual time: workers, their channels, storage and misfortunes around a real
// controller.
//
// Messages of one worker stay in order; those of different workers overtake each other. A death is
// detected late, may be noticed before the dead worker's last messages arrive, and those may be
// lost.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "impls/lazarus/campaign/protocol_watch.hpp"
#include "impls/lazarus/campaign/schedule.hpp"
#include "impls/lazarus/campaign/virtual_worker.hpp"
#include "suite/drive/event_queue.hpp"
#include "suite/drive/policy.hpp"

namespace assay::lazarus::campaign {

inline constexpr double kForever = std::numeric_limits<double>::infinity();

class VirtualWorld {
  public:
    explicit VirtualWorld(const Schedule& schedule) : VirtualWorld(schedule, schedule.job) {}
    /// For tests of the watch: the controller runs with other settings than the watch knows.
    VirtualWorld(const Schedule& schedule, const ControllerConfig& controller);

    /// Runs until nothing happens any more.
    void run();

    const std::string& failure() const { return failure_; }  ///< the first broken rule; empty: none
    const Controller& controller() const { return *controller_; }
    bool finished_ok() const { return watch_.stop() && watch_.stop()->ok; }
    const std::vector<drive::Decision<Controller>>& record() const {
        return controller_.decisions();
    }
    const std::array<long, kMoments>& strikes() const { return strikes_; }
    /// What went wrong, by kind.
    const std::map<std::string, long>& faults() const { return faults_; }

    // ---- what workers use ----------------------------------------------------------------------
    double between(double low, double high);
    double write_time() { return between(0.5, schedule_.slowest_write); }
    /// Calls `then` unless the worker is gone by then; a hung worker gets to it when it wakes.
    void after(Worker, double delay, std::function<void()> then);
    void report(Worker, Event);
    void enter_group(Epoch, Worker);
    void enter_sums(Epoch, Step, Worker);
    /// A fault may strike here; false: the worker is dead now.
    bool strike(Moment, Worker);
    bool awake(Worker) const;
    void exit(Worker);
    bool is_damaged(Worker id) const { return damaged_.count(id) > 0; }
    double pace(Worker id) const { return slow_.count(id) ? slow_.at(id) : 1; }
    bool readable(Step);  ///< the checkpoint; step 0 always is
    bool disk_full() { return draw_fault(schedule_.fault_odds.disk_full, "disk_full"); }
    void applied(Worker, const Commit&);
    std::vector<Loads> loads_of(Step step, const std::vector<Worker>& training) const;
    void store(Step step, ExpertId id, Hash state) { storage_[{step, id}] = state; }
    void store_dense(Step step, Hash state) { dense_storage_[step] = state; }
    Hash load(Step, ExpertId);
    Hash load_dense(Step);
    void fail(std::string what);

  private:
    void at(double when, std::function<void()> what) { time_.at(when, std::move(what)); }
    void spawn();
    void kill(Worker);
    void hang(Worker);
    void hang_briefly(Worker);
    void apply(const TimedFault&);
    bool draw_fault(double odds, const char* kind);
    bool break_group(Epoch, const std::vector<Worker>& among);
    void report_broken(Epoch, Worker suspect, GroupBroken::Cause);
    std::set<Worker> poisoned(const Reconfigure&, Step);
    std::set<Worker> damaged_;  ///< their state changed in memory; they do not know it yet
    bool more_nodes_come();
    Worker random_worker(Worker except = -1);
    void to_controller(const Event&);
    void carry_out(const Action&);
    void to_worker(Worker, const Action&);
    void transfer(const Reconfigure&, Worker from, Worker to, std::function<void()> move);
    void check_final_states();
    VirtualWorker& worker(Worker id) { return *workers_[static_cast<std::size_t>(id)]; }

    Schedule schedule_;
    drive::RecordedPolicy<Controller> controller_;
    ProtocolWatch watch_;
    std::mt19937_64 random_;
    drive::EventQueue time_;
    std::vector<std::unique_ptr<VirtualWorker>> workers_;
    std::map<Worker, double> last_to_, last_from_;
    std::set<Worker> silenced_;  ///< dead, and what they sent last is lost
    std::map<Epoch, std::set<Worker>> groups_;
    std::map<std::pair<Epoch, Step>, std::set<Worker>> sums_;
    std::map<Epoch, Reconfigure> plans_;
    Epoch aborted_ = 0;
    std::map<std::pair<Step, ExpertId>, Hash> storage_;
    std::map<Step, Hash> dense_storage_;
    std::map<Worker, double> slow_;                           ///< factor on all it does
    std::map<std::pair<Worker, Worker>, double> slow_links_;  ///< from, to: factor on transfers
    std::set<Epoch> broken_;                                  ///< groups reported as broken
    std::optional<Step> poison_again_;
    std::map<Step, int> orders_;                 ///< checkpoints ordered, by step
    std::map<std::pair<Step, int>, bool> torn_;  ///< drawn when first read
    int rescues_ = 0;
    std::map<std::string, long> faults_;
    int strikes_left_;
    std::array<long, kMoments> strikes_{};
    std::string failure_;
};

}  // namespace assay::lazarus::campaign
