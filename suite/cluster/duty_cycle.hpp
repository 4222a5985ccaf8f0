// When a worker that gets only a share of its time has to stop and go on. No clock, no signals.
#pragma once

namespace assay::cluster {

/// Seconds of any clock. Switches that come late are made up for: in the long run the worker runs
/// for its share, however imprecise the timer that drives it.
class DutyCycle {
  public:
    static constexpr double kPeriod_s = 0.010;  ///< short against heartbeats and steps

    /// Begins with a run.
    DutyCycle(double share, double now_s, double period_s = kPeriod_s);

    bool stopped() const { return stopped_; }
    double next_switch_s() const { return next_switch_s_; }
    /// To be called at, or soon after, next_switch_s(): what it was until now, it is no longer.
    void switch_over(double now_s);
    /// Begins with a run again: somebody else has stopped and resumed the worker.
    void restart(double now_s);

  private:
    double share_, period_s_;
    double since_s_ = 0;
    double ahead_s_ = 0;  ///< time it has run beyond its share
    double next_switch_s_ = 0;
    bool stopped_ = false;
};

}  // namespace assay::cluster
