// Workers that get only a share of their time: by a quota of the kernel (cpu_quota.hpp), or by a
// duty cycle of SIGSTOP and SIGCONT.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "suite/base/describe.hpp"
#include "suite/cluster/faults/cpu_quota.hpp"
#include "suite/cluster/processes/launcher.hpp"

namespace assay::cluster {

/// By what a slowed worker is kept from running.
enum class SlowMeans { quota, duty_cycle };

ASSAY_NAMES(SlowMeans, quota, duty_cycle)

/// When a worker that gets only a share of its time has to stop and go on. No clock, no signals:
/// seconds of any clock. Switches that come late are made up for: in the long run the worker runs
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

// Workers that get only a share of their time, and by what means: the kernel's quota where a
// control group can be written, else stops and continues in a duty cycle. No clock of its own.

/// Times are seconds of the caller's clock. The caller says what else happens to a worker: a hang,
/// in which it gets no time and no cycle goes on, and its end.
class Slowing {
  public:
    /// Below it a worker would run for less than a tenth of a millisecond at a time.
    static constexpr double kLeastShare = 0.01;

    /// `signal` reaches live and dead workers (Launcher::signal). `compute_threads`: of one worker.
    /// `root`: of the file tree in which control groups are looked for (tests).
    Slowing(std::function<void(WorkerId, int)> signal, int compute_threads,
            std::filesystem::path root = "/")
        : signal_(std::move(signal)), compute_threads_(compute_threads), quota_(std::move(root)) {}

    /// Why there is no quota here; empty: there is one.
    std::string why_no_quota() { return quota_.why_not(); }

    struct Order {
        double share = 1;                            ///< from kLeastShare to below 1
        double end_s = 0;                            ///< infinite: none
        std::optional<SlowMeans> by = std::nullopt;  ///< that and no other
        bool hanging = false;                        ///< begins after the hang
    };
    /// Replaces what slows the worker already. A share of the time that it would use alone on the
    /// machine: the quota is share * compute_threads processors, or share * all processors if those
    /// are fewer. Workers on other hosts have a duty cycle. Throws std::runtime_error when a quota
    /// is ordered and cannot be had.
    SlowMeans begin(WorkerId, const Launcher::Launched&, const Order&, double now_s);
    void end(WorkerId);  ///< all of its time again

    void hang(WorkerId);
    void resume(WorkerId, double now_s);  ///< the hang is over
    void killed(WorkerId);                ///< SIGKILL was sent: nothing holds it back from dying
    void gone(WorkerId);

    /// When drive() is wanted next.
    std::optional<double> next_due_s() const;
    void drive(double now_s);

    /// Calls `held(worker, share)` for each worker that was kept from running for that share of the
    /// time since the last drive(). Not during a hang, which is meant to be noticed.
    void for_each_held(const std::function<void(WorkerId, double)>& held) const;

  private:
    struct Slowed {
        std::variant<DutyCycle, CpuLimit> by;
        double share;
        double end_s;
        bool hanging;
    };
    std::variant<DutyCycle, CpuLimit> choose(const Launcher::Launched&, const Order&, double now_s);
    void let_run(WorkerId, const Slowed&);

    std::function<void(WorkerId, int)> signal_;
    int compute_threads_;
    CpuQuota quota_;  // outlives the limits
    std::map<WorkerId, Slowed> slowed_;
};

}  // namespace assay::cluster
