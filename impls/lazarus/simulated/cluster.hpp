// A training cluster without processes: a controller and its workers (worker.hpp), what the workers
// do together (groups, transfers, sums), storage for checkpoints, and a driver that notices deaths
// and broken groups. Durations, troubles and onlookers are attached to it; campaigns and simulated
// trainings differ in nothing else.
//
// Messages of one worker stay in order; those of different workers overtake each other. A death is
// detected late, may be noticed before the dead worker's last messages arrive, and those may be
// lost.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "impls/lazarus/policy/controller/controller.hpp"
#include "impls/lazarus/simulated/durations.hpp"
#include "impls/lazarus/simulated/worker.hpp"
#include "suite/drive/simulated/world.hpp"
#include "suite/drive/suspicion.hpp"

namespace assay::lazarus {

/// Looks on. Does nothing.
class ClusterObserver {
  public:
    virtual ~ClusterObserver() = default;
    virtual void spawned(Worker) {}
    virtual void before(const Event&) {}  ///< the controller is about to be told of it
    /// It asked for this, which is carried out next unless the cluster was ended meanwhile.
    virtual void after(const Action&, const Controller&) {}
    virtual void decided(const Controller&) {}  ///< all that the event asked for has been done
};

class SimulatedCluster final : private drive::Latencies {
  public:
    SimulatedCluster(const ControllerConfig& job, drive::VirtualTime& time, Durations& durations,
                     bool keep_decisions = true);

    // Must outlive the cluster.
    void attach(Trouble& trouble) { trouble_ = &trouble; }
    void attach(StateKeeper& states) { states_ = &states; }
    void attach(ClusterObserver& observer) { observer_ = &observer; }

    Worker spawn();
    /// From now on nothing that the controller asks for is carried out, nor is it told of anything.
    void end() { ended_ = true; }
    bool ended() const { return ended_; }

    const Controller& controller() const { return *controller_; }
    const std::vector<drive::Decision<Controller>>& decisions() const {
        return controller_.decisions();
    }
    /// In force, or being formed; epoch 0 before the first.
    const Reconfigure& plan() const { return group_->plan; }

    // ---- what befalls workers; ignored where they are dead --------------------------------------
    void kill(Worker);
    /// Frozen for so long; infinity: for good. Who is frozen for longer than Durations::silence()
    /// is taken for dead, and killed.
    void hang(Worker, double for_s);
    void leave(Worker);  ///< it gets a preemption notice
    void stick(Worker worker) { at(worker).stick(); }

    double now() const { return world_.now(); }
    drive::VirtualTime& time() { return world_.time(); }
    int size() const { return static_cast<int>(workers_.size()); }  ///< workers that ever were
    bool is_there(Worker worker) const { return worker < size() && world_.alive(worker); }
    bool is_awake(Worker worker) const { return world_.awake(worker); }
    bool is_member(Worker worker) const { return group_->has(worker); }
    const SimulatedWorker& worker(Worker worker) const;
    /// Since when a worker that died, or froze for good, was of no use any more; and whether others
    /// were in a group with it then.
    struct Loss {
        double since_s = 0;
        bool member = false;
        const char* how = "";  ///< it ended: "killed", "silent", "evicted", "exit"
    };
    const Loss& loss_of(Worker worker) const { return losses_.at(worker); }

    /// The protocol was not kept to, by whom ever: the first such complaint, empty: none.
    const std::string& complaint() const { return complaint_; }
    void complain(std::string what);

    // ---- what workers use -----------------------------------------------------------------------
    Durations& durations() { return durations_; }
    Trouble& trouble() { return *trouble_; }
    StateKeeper& states() { return *states_; }
    drive::SimulatedWorld& world() { return world_; }
    void report(Worker, Event);
    void report_done(const EpochGroup&, Worker);
    void report_broken(drive::Suspicion::GroupBroke);
    void enter_group(const std::shared_ptr<EpochGroup>&);
    void inside_group(const std::shared_ptr<EpochGroup>&, Worker);
    void enter_sums(const std::shared_ptr<EpochGroup>&, Step);
    void exit(Worker);  ///< its process ends by itself
    void wrote(const std::shared_ptr<const CheckpointOrder>&, bool torn);
    bool readable(Step step) const { return !torn_.contains(step); }

  private:
    double message(drive::WorkerId worker) override { return durations_.message(worker); }
    double detection(drive::WorkerId) override;

    // ---- the driver (cluster.cpp) ---------------------------------------------------------------
    void joined(Worker);
    void announce();
    void decide(const Event&);
    void suspect(const drive::Suspicion::Event&);
    void blame(const drive::Suspicion::Blame&);
    void act(const Reconfigure&);
    void act(const Go&);
    void act(const Dismiss&);
    void act(const Commit&);
    void act(const WriteCheckpoint&);
    void act(const Abort&);
    void act(const Evict&);
    void act(const StartTimer&);
    void act(const Stop&);
    void send(Worker, const SimulatedWorker::Message&);
    void end_by_driver(Worker, const char* how);
    void end_process(Worker, const char* how, bool silenced);
    void died(Worker);

    // ---- what workers do together (cluster_groups.cpp) ------------------------------------------
    bool breaks(EpochGroup&, Together, const std::vector<Worker>& among);
    void move(const std::shared_ptr<EpochGroup>&, const EpochGroup::Move&);
    void arrives(EpochGroup&, const EpochGroup::Move&);
    SimulatedWorker& at(Worker worker) { return workers_.at(static_cast<std::size_t>(worker)); }

    Trouble no_trouble_;
    StateKeeper no_states_;
    ClusterObserver nobody_;
    Trouble* trouble_ = &no_trouble_;
    StateKeeper* states_ = &no_states_;
    ClusterObserver* observer_ = &nobody_;

    Durations& durations_;
    drive::SimulatedWorld world_;
    drive::RecordedPolicy<Controller> controller_;
    drive::Suspicion suspicion_;
    std::deque<SimulatedWorker> workers_;
    std::vector<Worker> joined_;  ///< not told to the controller yet
    std::shared_ptr<EpochGroup> group_;
    std::map<Step, std::shared_ptr<const CheckpointOrder>> orders_;  ///< the newest of each step
    std::set<Step> torn_;  ///< checkpoints that cannot be read
    std::map<Worker, Loss> losses_;
    std::set<Worker> ended_by_driver_;
    bool begun_ = false, ended_ = false;
    std::string complaint_;
};

}  // namespace assay::lazarus
