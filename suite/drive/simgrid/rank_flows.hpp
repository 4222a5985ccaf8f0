// Flows between the ranks of a topology: its ports and routes as SimGrid is given them.
#pragma once

#include <memory>
#include <vector>

#include "suite/drive/simgrid/flow_engine.hpp"
#include "suite/scenario/network/topology.hpp"

namespace assay::drive {

/// A platform, and each rank's hosts in it: one for what it sends to ranks of its own node, one for
/// all else.
struct RankPlatform {
    struct Hosts {
        int inside = FlowPlatform::none, outside = FlowPlatform::none;
    };
    FlowPlatform platform;
    std::vector<Hosts> hosts;
};
RankPlatform platform_of(const Topology&, int ranks);

/// Holds the engine of the process; whoever shares it takes turns (SimGridTime, FlowNetwork).
class RankFlows {
  public:
    /// Of the topology's first ranks. Throws what open_flow_engine() throws, and UserError where
    /// the topology has fewer.
    RankFlows(Topology topology, int ranks);

    const Topology& topology() const { return topology_; }
    int ranks() const { return static_cast<int>(hosts_.size()); }
    FlowEngine& engine() { return *engine_; }

    /// Of whole bytes, at least one, from now on. The latency of the route is not part of it.
    void start(FlowEngine::Id, int from, int to, double bytes);

  private:
    Topology topology_;
    std::vector<RankPlatform::Hosts> hosts_;
    std::unique_ptr<FlowEngine> engine_;
};

}  // namespace assay::drive
