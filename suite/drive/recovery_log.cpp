#include "suite/drive/recovery_log.hpp"

#include <algorithm>

namespace assay::drive {

RecoveryTimes& RecoveryLog::current() {
    if (!open_) {
        open_ = true;
        disturbed_ = epoch_;
        recoveries_.emplace_back();
    }
    return recoveries_.back();
}

void RecoveryLog::on_death(WorkerId worker, double detected_s) {
    auto& recovery = current();
    if (recovery.detected_s < 0) recovery.detected_s = detected_s;
    const auto fault = injected_.find(worker);
    if (fault != injected_.end() && recovery.injected_s < 0) recovery.injected_s = fault->second;
}

void RecoveryLog::on_broken(Epoch epoch, double t_s) {
    // Reports of a group given up long ago say nothing about the one in force.
    if (epoch != (open_ ? disturbed_ : epoch_)) return;
    auto& recovery = current();
    recovery.surfaced_s = std::max(recovery.surfaced_s, t_s);
}

void RecoveryLog::on_go(double t_s) {
    if (open_) recoveries_.back().resumed_s = t_s;
    open_ = false;
}

}  // namespace assay::drive
