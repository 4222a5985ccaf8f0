// Workers that get only a share of their time, and by what means: the kernel's quota where a
// control group can be written, else stops and continues in a duty cycle. No clock of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "suite/cluster/cpu_quota.hpp"
#include "suite/cluster/duty_cycle.hpp"
#include "suite/cluster/launcher.hpp"
#include "suite/cluster/slow_means.hpp"

namespace assay::cluster {

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
