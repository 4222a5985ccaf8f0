// Holds operations to modelled durations: real work is done, then the worker waits until the moment
// at which the modelled device would be done.
#pragma once

namespace assay::cluster {

/// Seconds of the monotonic clock: one value for all processes of a machine.
double monotonic_s();

/// Sleeps until `deadline_s` of monotonic_s(); returns at once when it has passed. Precise to some
/// tens of microseconds on an idle core (timer slack 1 ns); never spins. Throws
/// std::invalid_argument when the deadline is not finite.
void sleep_until(double deadline_s);

/// Deadlines of one worker, relative to a common start that all workers are given.
class Pacer {
  public:
    /// `speed`: scenario seconds per real second; not positive: std::invalid_argument.
    explicit Pacer(double speed);

    void start(double start_s);  ///< monotonic_s() of the step's start; begins a new report
    /// Waits until `offset_s` scenario seconds after the start. Being late is recorded, not made up
    /// for: the next deadlines stay where they are. Aims earlier by what wake-ups usually take, so
    /// it may return some tens of microseconds early.
    void hold_until(double offset_s);

    struct Report {
        long operations = 0;
        double late_s = 0;   ///< scenario seconds: lateness at the last hold_until
        double worst_s = 0;  ///< largest lateness of one operation since the start
    };
    Report report() const { return report_; }  ///< since start()

  private:
    double speed_;
    double start_s_ = 0;
    double usual_lateness_s_ = 0;  ///< of this thread's wake-ups, real seconds
    Report report_;
};

}  // namespace assay::cluster
