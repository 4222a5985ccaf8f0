// How good the gate is on this machine with this suite: false alarms, detection, noise floors.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "suite/gate/qualify/resampling.hpp"

namespace assay::qualify {

/// Slowdowns that every qualification tells of.
inline const std::vector<double> usual_slowdowns = {1.01, 1.02, 1.05, 1.1};

inline constexpr double share_to_be_fit = 0.95;
inline constexpr int fewest_rows_to_be_fit = 50;

struct Options {
    int campaigns = 50;  ///< of quiet nights
    int nights = 20;     ///< per campaign
    int trials = 100;    ///< per row and slowdown
    std::uint64_t seed = 1;
};

struct RowQuality {
    RowId id;
    double spread = 0;                  ///< from night to night; Resampling::spread(), may be NaN
    double margin = 0;                  ///< the suite's for this row
    std::map<double, double> detected;  ///< factor → share, multiplied values
    std::map<double, double> recorded;  ///< factor → share, samples that were really slowed
    std::map<double, double> measured;  ///< factor → median slowdown of the recorded samples
    /// Smallest slowdown that was tried and found in 95 % of the trials; infinity: none of them.
    double floor = 0;
};

struct Qualification {
    std::string suite, machine, session;
    Options options;
    QuietNights quiet;
    std::vector<RowQuality> rows;
    std::map<double, double> mean_fails;  ///< all rows slower by factor → share of nights that fail
    int pool_rounds = 0, exact_rows = 0, short_rows = 0;
    double pool_seconds = 0;
    std::string pool_first, pool_last;

    double false_alarms_per_20() const;
    /// Mean over the rows; NaN where it was not tried.
    double detection(double factor, bool recorded) const;
    /// Median over the rows of what samples slowed by `factor` really took.
    double measured_slowdown(double factor) const;
    /// At most one false alarm in 20 quiet nights of at least 50 rows, and 95 % of the slowdowns by
    /// 10 % detected.
    bool fit() const;
};

/// `progress` is told the share that is done, now and then.
Qualification qualify(const Pool& pool, const gate::SuiteFile& suite, const Options& options,
                      const std::function<void(double)>& progress);

std::string qualification_text(const Qualification&);
nlohmann::json qualification_json(const Qualification&);

}  // namespace assay::qualify
