// Faults that a worker does to itself, as it is told of them.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "suite/cluster/faults/fault_layer.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::drive {

/// Asks a worker to do a fault to itself that strikes its links, or inside it; seconds are real
/// ones. `index`: its number in the plan, for the worker's answer "struck". Faults of the transport
/// are urgent: they take effect at once.
nlohmann::json inject_message(const Fault& fault, std::size_t index);
/// Throws ScenarioError.
Fault injected_from(const nlohmann::json& message, const FaultPhases& phases);

bool strikes_transport(const Fault& fault);

/// Faults of a worker's links as they come, and which of them have struck a message since.
class LinkStrikes {
  public:
    explicit LinkStrikes(std::shared_ptr<cluster::LinkFaults> links) : links_(std::move(links)) {}
    /// On the thread of the channel's listener.
    void inject(const Fault& fault, std::size_t index);
    /// Numbers of the corruptions that a message was struck by since the last call.
    std::vector<std::size_t> corrupted();

  private:
    std::shared_ptr<cluster::LinkFaults> links_;
    std::mutex mutex_;
    std::deque<std::size_t> waiting_;  // corruptions that no message was struck by
    long known_ = 0;
};

}  // namespace assay::drive
