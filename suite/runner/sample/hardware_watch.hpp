// Watches the machine around and during each sample of a session, and marks those that it slowed.
#pragma once

#include <vector>

#include "suite/measure/hardware/hardware_monitor.hpp"
#include "suite/store/records.hpp"

namespace assay::runner {

class HardwareWatch {
  public:
    /// `monitor` is made once per session: starting NVML can take seconds.
    explicit HardwareWatch(measure::HardwareMonitor monitor) : monitor_(std::move(monitor)) {}

    /// Right before a sample's process starts.
    void begin();
    /// While it runs, at its age `t_s`; returns the age at which to look again.
    double look(double t_s);
    /// Once the process and everything it started are gone.
    void end(double t_s);

    /// Adds the readings, and curves of what the processors did ("machine/busy", "machine/steal",
    /// "machine/other_processes": busy with what was no part of the sample). A sample that was ok
    /// but throttled becomes invalid, with the guard's sentence as its reason. GPUs are judged
    /// where the sample computes on them (ProfilePlan::uses_gpus()). Samples shorter than 0.1 s
    /// have no reading during them, so their clock and what GPUs report are not judged: once the
    /// process is gone, the device may already rest, and its clock then says nothing of the sample.
    /// What the processors count from start to end (thermal events, quota, steal) is judged all the
    /// same.
    void judge(store::Sample& sample, bool on_gpus) const;

  private:
    void read(double t_s, measure::Phase phase);

    measure::HardwareMonitor monitor_;
    std::vector<measure::DeviceReading> readings_;  ///< of this sample
    double own_busy_s_ = 0;     ///< core-seconds of this process and its dead children, at begin()
    double others_cores_ = -1;  ///< over the whole sample; negative: unknown
};

}  // namespace assay::runner
