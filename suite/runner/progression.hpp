// How far a session is and how long it will still take.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "suite/runner/runner.hpp"

namespace assay::runner {

/// Counts samples and tells the listener. What is left is estimated from what this call has
/// measured: the mean of the same case, else the plan's estimate plus the mean error of its
/// experiment's samples (short samples exceed their estimate by the start of a process, an error
/// that adds), else plus that of all samples. Of a sample that runs alone counts what its progress
/// leaves to do. Where several run at once they share what is left, but none takes less than it
/// takes.
class Progression {
  public:
    /// `now`: seconds of any clock that does not go back; tests set it. `times`: how often each
    /// sample of the plan is run. The listener must outlive this.
    Progression(const Plan& plan, const Listener& listener, std::function<double()> now = {},
                int times = 1);

    /// Samples that take time beside those of the plan and count as none of them.
    void beside(const Plan& plan);

    /// Finished in an earlier call.
    void passed_over(const PlannedSample& sample, const std::string& status);
    /// From now on so many samples run side by side.
    void at_once(int samples) { at_once_ = samples; }
    /// It need not be run: adaptive rounds are over.
    void saved(const PlannedSample& sample);
    void started(const PlannedSample& sample);
    void finished(const PlannedSample& sample, const store::Sample& result);

    long saved() const { return saved_; }
    double eta_s() const;
    /// "progress" tells by its "fraction" how far the running sample is.
    void tell(const std::string& kind, nlohmann::json body);

  private:
    struct Sum {
        long left = 0, measured = 0;
        double left_s = 0;                    ///< by the plan's estimates
        double estimated_s = 0, taken_s = 0;  ///< of those that were measured
        double excess_s() const;              ///< mean error of an estimate
    };
    struct OfCase {
        std::string experiment;
        Sum sum;
        bool counted = true;
    };
    struct Running {
        std::string of_case;
        double began = 0, estimate_s = 0;
        std::optional<double> first_fraction, first_at, fraction;
    };

    OfCase& of(const PlannedSample& sample);
    void no_longer_left(const PlannedSample& sample);
    void count(const std::string& status);
    double expected_s(const OfCase& of_case, double estimate_s) const;
    double rest_of(const Running& running) const;

    const Listener& tell_;
    std::function<double()> now_;
    std::map<std::string, OfCase> cases_;
    std::map<std::string, Sum> experiments_;
    Sum all_;
    std::map<const PlannedSample*, Running> running_;
    int at_once_ = 1;
    long planned_ = 0, done_ = 0, failed_ = 0, saved_ = 0;
};

}  // namespace assay::runner
