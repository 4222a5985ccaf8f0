// Carries out a fault plan on a simulated cluster: each fault at its time, once. One whose target
// is not there does not fire.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "impls/lazarus/simulated/cluster.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::lazarus {

/// Faults of every kind, keyed by time. A damaged message is noticed by its receiver, who names the
/// sender. A NaN has reached everybody's sums when the step ends. Who is cut off says so once it
/// has tried for as long as it endures (Durations::endurance).
class PlannedTrouble : public Trouble {
  public:
    using Struck = std::function<void(const Fault&, Worker)>;

    /// `struck`: called before each injection; may be empty.
    PlannedTrouble(FaultPlan plan, SimulatedCluster& cluster, Struck struck = {});

    void begins() override;
    std::vector<Symptom> breaks(Together, const std::vector<Worker>& among) override;
    bool damages(Worker from, Worker to) override;
    std::set<Worker> not_finite(const Reconfigure&, Step) override;
    bool changed_state(Worker worker) override { return changed_.contains(worker); }
    Writing writes(Worker, Step) override;

  protected:
    SimulatedCluster& cluster() { return cluster_; }
    /// What becomes of a target that is there.
    virtual void befall(const Fault&, Worker target);
    void change_state(Worker worker) { changed_.insert(worker); }

  private:
    void fire(const Fault&);
    double end_of(const Fault&) const;

    FaultPlan plan_;
    SimulatedCluster& cluster_;
    Struck struck_;
    std::set<Worker> corrupt_next_, poisoned_, changed_, tear_next_;
    std::map<Worker, double> disk_full_until_s_;
};

}  // namespace assay::lazarus
