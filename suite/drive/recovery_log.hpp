// Times of each disturbance of a run, from its cause to the work going on.
#pragma once

#include <map>
#include <vector>

#include "suite/drive/suspicion.hpp"

namespace assay::drive {

/// One disturbance; seconds of the scenario, -1 where it does not apply.
struct RecoveryTimes {
    double injected_s = -1;  ///< of the fault, if it was one of ours
    double detected_s = -1;  ///< the supervisor knew
    double surfaced_s = -1;  ///< the last survivor's collective broke (-1: none was in one)
    double resumed_s = -1;   ///< every member was ready: work goes on
};

/// Deaths that strike while a recovery is under way belong to it.
class RecoveryLog {
  public:
    void on_fault(WorkerId worker, double t_s) { injected_[worker] = t_s; }  ///< a kill or a hang
    void on_death(WorkerId worker, double detected_s);                       ///< of a member
    void on_broken(Epoch epoch, double t_s);       ///< a member's collective gave up
    void on_plan(Epoch epoch) { epoch_ = epoch; }  ///< a new plan is in force
    void on_go(double t_s);

    const std::vector<RecoveryTimes>& recoveries() const { return recoveries_; }

  private:
    RecoveryTimes& current();

    std::vector<RecoveryTimes> recoveries_;
    std::map<WorkerId, double> injected_;
    Epoch epoch_ = 0;      // in force
    Epoch disturbed_ = 0;  // the epoch that the open recovery disturbed
    bool open_ = false;
};

}  // namespace assay::drive
