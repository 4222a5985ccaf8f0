// A training cluster without processes: a controller and its workers (member.hpp), what the workers
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
#include "impls/lazarus/simulated/member.hpp"
#include "suite/drive/simulated/virtual_worker.hpp"
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

class SimulatedCluster final : private drive::Latencies,
                               private drive::VirtualWorker::Surroundings {
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
    /// It lives, but does nothing any more, whatever it is told.
    void stick(Worker worker) { at(worker).worker.stick(); }

    double now() const { return world_.now(); }
    drive::VirtualTime& time() { return world_.time(); }
    int size() const { return static_cast<int>(nodes_.size()); }  ///< workers that ever were
    bool is_there(Worker worker) const { return worker < size() && world_.alive(worker); }
    bool is_awake(Worker worker) const { return world_.awake(worker); }
    bool is_member(Worker worker) const { return group_->has(worker); }
    bool is_stuck(Worker worker) const { return node(worker).worker.stuck(); }
    const SimulatedMember& member(Worker worker) const { return node(worker).member; }
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

    // ---- what members use -----------------------------------------------------------------------
    Durations& durations() { return durations_; }
    Trouble& trouble() { return *trouble_; }
    StateKeeper& states() { return *states_; }
    /// Writes all its parts but the last; the seconds until that one is written.
    double write_parts(Worker, const CheckpointOrder&);
    void wrote(const std::shared_ptr<const CheckpointOrder>&, bool torn);

  private:
    struct Node {
        Node(Worker id, SimulatedCluster& cluster);
        SimulatedMember member;
        drive::VirtualWorker worker;
        std::size_t outstanding = 0;  ///< transfers
        std::uint64_t waits = 0;      ///< counts what it has waited for together with others
    };

    // ---- what members do (drive::VirtualWorker::Surroundings, cluster_members.cpp) --------------
    void says(Worker, drive::AnyMessage) override;
    void ends(Worker, const std::string& how) override;
    bool passes(Worker, std::string_view phase, long step) override;
    void arrives(Worker, const drive::Group&, double seconds) override;
    void turns_away(Worker, std::int64_t) override {}
    void is_struck(Worker, const Fault&) override {}
    void progresses(Worker) override {}
    bool reaches(Moment, Worker);
    void sees(Worker, Epoch, const Symptom&);
    bool in_transfers_of(Epoch, Worker) const;

    double message(drive::WorkerId worker) override { return durations_.message(worker); }
    double detection(drive::WorkerId) override;

    // ---- the driver (cluster.cpp) ---------------------------------------------------------------
    void joined(Worker);
    void announce();
    void decide(Event);
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
    void report(Worker, Event);
    void report_broken(drive::Suspicion::GroupBroke);
    void send(Worker, const drive::AnyMessage&);
    void end_by_driver(Worker, const char* how);
    void end_process(Worker, const char* how, bool silenced);
    void died(Worker);

    // ---- what workers do together (cluster_groups.cpp) ------------------------------------------
    bool breaks(EpochGroup&, Together, const std::vector<Worker>& among);
    void enter_group(EpochGroup&);
    void inside_group(const std::shared_ptr<EpochGroup>&, Worker);
    void restore(const EpochGroup&, Worker);
    void one_transfer_less(Worker);
    void enter_sums(const std::shared_ptr<EpochGroup>&, Step);
    void move(const std::shared_ptr<EpochGroup>&, const EpochGroup::Move&);
    void arrives(EpochGroup&, const EpochGroup::Move&);
    Node& at(Worker worker) { return nodes_.at(static_cast<std::size_t>(worker)); }
    const Node& node(Worker worker) const { return nodes_.at(static_cast<std::size_t>(worker)); }

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
    std::deque<Node> nodes_;
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
