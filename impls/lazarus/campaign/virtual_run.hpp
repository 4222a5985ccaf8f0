// One schedule in virtual time: a simulated cluster with random durations and troubles, watched.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "impls/lazarus/campaign/hashed_states.hpp"
#include "impls/lazarus/campaign/random_durations.hpp"
#include "impls/lazarus/campaign/random_trouble.hpp"
#include "impls/lazarus/campaign/schedule.hpp"
#include "impls/lazarus/simulated/cluster.hpp"
#include "impls/lazarus/watch/protocol_watch.hpp"
#include "suite/drive/simulated/event_queue.hpp"

namespace assay::lazarus::campaign {

class VirtualRun final : private ClusterObserver {
  public:
    explicit VirtualRun(const Schedule& schedule) : VirtualRun(schedule, schedule.job) {}
    /// For tests of the watch: the controller runs with other settings than the watch knows.
    VirtualRun(const Schedule& schedule, const ControllerConfig& controller);

    /// Until nothing happens any more.
    void run();

    const std::string& failure() const { return failure_; }  ///< the first broken rule; empty: none
    const Controller& controller() const { return cluster_.controller(); }
    bool finished_ok() const { return watch_.stop() && watch_.stop()->ok; }
    const std::vector<drive::Decision<Controller>>& record() const { return cluster_.decisions(); }
    const RandomTrouble& trouble() const { return trouble_; }
    long waits() const { return rescues_; }  ///< for nodes, that were then found

  private:
    void before(const Event& event) override { watch_.before(event); }
    void after(const Action&, const Controller&) override;
    void fail(const std::string& what);
    bool nothing_failed();
    bool more_nodes_come();
    bool somebody_looks();
    void check_final_states();

    Schedule schedule_;
    KeyedDice dice_;
    drive::EventQueue time_;
    RandomDurations durations_;
    SimulatedCluster cluster_;
    RandomTrouble trouble_;
    ProtocolWatch watch_;
    HashedStates states_;
    int rescues_ = 0;
    std::string failure_;
};

}  // namespace assay::lazarus::campaign
