// How long everything takes in a simulated training, and what its steps route: from a cost model
// (modelled_durations.hpp), or drawn from a seed (campaign/random_durations.hpp). Seconds of the
// scenario.
#pragma once

#include <map>
#include <vector>

#include "impls/lazarus/simulated/links.hpp"

namespace assay::lazarus {

class Durations {
  public:
    virtual ~Durations() = default;

    // ---- the driver and its workers -------------------------------------------------------------
    virtual double starting(Worker) = 0;                ///< from its launch to its report
    virtual double message(Worker) = 0;                 ///< to it, or from it
    virtual double detection(Worker, bool member) = 0;  ///< from its death to the driver knowing
    virtual double eviction(Worker) = 0;  ///< the same where the driver itself has ended it
    virtual double silence() = 0;   ///< who is frozen for so long is taken for dead, and ended
    virtual double patience() = 0;  ///< of suspicion (suite/drive/suspicion.hpp)
    /// That a worker stays in a collective that does not end; infinity: until it is told to stop.
    virtual double endurance() = 0;

    // ---- a new plan -----------------------------------------------------------------------------
    /// It is announced, made from these loads, [layer][expert]; all zero: equal ones.
    virtual void planned(const Reconfigure&, const std::vector<Loads>&) {}
    /// Its group, once all members have come.
    virtual double building(const Reconfigure&, Worker) = 0;
    /// One state, once both are in the group.
    virtual double moving(const Reconfigure&, Worker from, Worker to) = 0;
    /// What the worker is to hold, from a checkpoint, once it is in the group.
    virtual double restoring(const Reconfigure&, Worker) = 0;

    // ---- steps ----------------------------------------------------------------------------------
    virtual double computing(const Reconfigure&, Step, Worker) = 0;  ///< until it has its gradients
    virtual double summing(const Reconfigure&, Step, Worker) = 0;    ///< once all have theirs
    /// From the beginning of its writing until part 0, 1, … of its `parts` is durable; ascending.
    virtual double written(Worker, int part, int parts) = 0;
    /// Global tokens per expert, per layer. Asked for once per try, when its sums are there.
    virtual std::vector<Loads> loads(const Reconfigure&, Step) = 0;

    // ---- what faults have made of it ------------------------------------------------------------
    void slow(Worker worker, double factor) { slowdowns_[worker] = factor; }
    double slowdown(Worker worker) const {
        const auto found = slowdowns_.find(worker);
        return found == slowdowns_.end() ? 1 : found->second;
    }

    Links& links() { return links_; }

  private:
    std::map<Worker, double> slowdowns_;
    Links links_;
};

}  // namespace assay::lazarus
