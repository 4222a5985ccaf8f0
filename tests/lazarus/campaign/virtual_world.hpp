// A cluster in virtual time: workers, their channels, storage and misfortunes around a real
// controller.
//
// Messages of one worker stay in order; those of different workers overtake each other. A death is
// detected late, may be noticed before the dead worker's last messages arrive, and those may be
// lost.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/lazarus/campaign/protocol_watch.hpp"
#include "tests/lazarus/campaign/schedule.hpp"
#include "tests/lazarus/campaign/virtual_worker.hpp"

namespace assay::lazarus::campaign {

struct Recorded {
    Event event;
    double at;
    Actions actions;
};

class VirtualWorld {
  public:
    explicit VirtualWorld(const Schedule& schedule);

    /// Runs until nothing happens any more.
    void run();

    const std::string& failure() const { return failure_; }  ///< the first broken rule; empty: none
    const Controller& controller() const { return controller_; }
    bool finished_ok() const { return watch_.stop() && watch_.stop()->ok; }
    const std::vector<Recorded>& record() const { return record_; }
    const std::array<long, kMoments>& strikes() const { return strikes_; }

    // ---- what workers use
    // ------------------------------------------------------------------------
    double between(double low, double high);
    double write_time() { return between(0.5, schedule_.slowest_write); }
    /// Calls `then` unless the worker is gone by then; a hung worker gets to it when it wakes.
    void after(Worker, double delay, std::function<void()> then);
    void report(Worker, Event);
    void enter_group(Epoch, Worker);
    void enter_sums(Epoch, Step, Worker);
    /// Gives fate its chance; false: the worker is dead now.
    bool strike(Moment, Worker);
    bool awake(Worker) const;
    void exit(Worker);
    void applied(Worker, const Commit&);
    std::vector<Loads> loads_of(Step step, const std::vector<Worker>& training) const;
    void store(Step step, ExpertId id, Hash state) { storage_[{step, id}] = state; }
    void store_dense(Step step, Hash state) { dense_storage_[step] = state; }
    Hash load(Step, ExpertId);
    Hash load_dense(Step);
    void fail(std::string what);

  private:
    struct Happening {
        double at;
        long order;
        std::function<void()> what;
        bool operator<(const Happening& other) const {  // the queue's top is the earliest
            return std::pair(at, order) > std::pair(other.at, other.order);
        }
    };

    void at(double when, std::function<void()> what);
    void spawn();
    void kill(Worker);
    void hang(Worker);
    void hang_briefly(Worker);
    void apply(const TimedFault&);
    Worker random_worker(Worker except = -1);
    void to_controller(const Event&);
    void carry_out(const Action&);
    void to_worker(Worker, const Action&);
    void transfer(const Reconfigure&, Worker from, Worker to, std::function<void()> move);
    void check_final_states();
    VirtualWorker& worker(Worker id) { return *workers_[static_cast<std::size_t>(id)]; }

    Schedule schedule_;
    Controller controller_;
    ProtocolWatch watch_;
    std::mt19937_64 random_;
    double now_ = 0;
    long order_ = 0;
    std::priority_queue<Happening> queue_;
    std::vector<std::unique_ptr<VirtualWorker>> workers_;
    std::map<Worker, double> last_to_, last_from_;
    std::set<Worker> silenced_;  ///< dead, and what they sent last is lost
    std::map<Epoch, std::set<Worker>> groups_;
    std::map<std::pair<Epoch, Step>, std::set<Worker>> sums_;
    std::map<Epoch, Reconfigure> plans_;
    Epoch aborted_ = 0;
    std::map<std::pair<Step, ExpertId>, Hash> storage_;
    std::map<Step, Hash> dense_storage_;
    int strikes_left_;
    std::array<long, kMoments> strikes_{};
    std::vector<Recorded> record_;
    std::string failure_;
};

}  // namespace assay::lazarus::campaign
