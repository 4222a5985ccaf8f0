#include "suite/gate/qualify/qualification.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "suite/measure/statistics/quantile.hpp"

namespace assay::qualify {
namespace {

/// Slowdowns among which the noise floor is looked for.
const std::vector<double> floor_ladder = {1.01, 1.02, 1.03, 1.05, 1.07, 1.1,
                                          1.15, 1.2,  1.3,  1.5,  2};

class Qualifying {
  public:
    Qualifying(const Pool& pool, const gate::SuiteFile& suite, const Options& options,
               const std::function<void(double)>& progress)
        : pool_(pool), options_(options), progress_(progress), nights_(pool, suite, options.seed) {
        // A night weighs as much as one trial of every row.
        const double per_row = static_cast<double>(usual_slowdowns.size() + 3) * options.trials;
        all_ = static_cast<double>(pool.rows.size()) *
               (per_row + static_cast<double>(options.campaigns) * options.nights +
                static_cast<double>(usual_slowdowns.size()) * options.trials);
    }

    Qualification run() {
        for (int campaign = 0; campaign < options_.campaigns; ++campaign) {
            nights_.quiet_campaign(options_.nights, result_.quiet);
            done(static_cast<double>(pool_.rows.size()) * options_.nights);
        }
        for (const PoolRow& row : pool_.rows)
            if (!row.gate.control) result_.rows.push_back(quality(row));
        for (const double factor : usual_slowdowns) {
            int failed = 0;
            for (int trial = 0; trial < options_.trials; ++trial)
                failed += nights_.mean_fails({factor, false}) ? 1 : 0;
            done(static_cast<double>(pool_.rows.size()) * options_.trials);
            result_.mean_fails[factor] = static_cast<double>(failed) / options_.trials;
        }
        if (progress_) progress_(1);
        return std::move(result_);
    }

  private:
    void done(double work) {
        done_ += work;
        if (progress_) progress_(std::min(1.0, done_ / all_));
    }

    double share(const PoolRow& row, Injected injected) {
        int confirmed = 0;
        for (int trial = 0; trial < options_.trials; ++trial)
            confirmed += nights_.confirms(row, injected) ? 1 : 0;
        done(options_.trials);
        return static_cast<double>(confirmed) / options_.trials;
    }

    RowQuality quality(const PoolRow& row) {
        RowQuality quality;
        quality.id = row.series.name;
        quality.margin = row.gate.margin;
        quality.spread = nights_.spread(row);
        for (const double factor : usual_slowdowns)
            quality.detected[factor] = share(row, {factor, false});
        for (const auto& [factor, values] : row.slowed) {
            quality.recorded[factor] = share(row, {factor, true});
            quality.measured[factor] = measured_slowdown(row, values);
        }
        quality.floor = floor_of(row, quality.detected);
        return quality;
    }

    /// Each slowed sample against the honest one beside it.
    static double measured_slowdown(const PoolRow& row, const std::vector<double>& slowed) {
        std::vector<double> ratios;
        for (std::size_t round = 0; round < std::min(slowed.size(), row.honest.size()); ++round) {
            const double ratio = row.series.better == Direction::higher
                                     ? row.honest[round] / slowed[round]
                                     : slowed[round] / row.honest[round];
            if (std::isfinite(ratio)) ratios.push_back(ratio);
        }
        return ratios.empty() ? std::nan("") : statistics::median(ratios);
    }

    /// By bisection: what is found at one slowdown is found at larger ones.
    double floor_of(const PoolRow& row, std::map<double, double> shares) {
        auto low = floor_ladder.begin(), high = floor_ladder.end();
        while (low < high) {
            const auto middle = low + (high - low) / 2;
            if (!shares.contains(*middle)) shares[*middle] = share(row, {*middle, false});
            if (shares.at(*middle) >= share_to_be_fit)
                high = middle;
            else
                low = middle + 1;
        }
        return low == floor_ladder.end() ? std::numeric_limits<double>::infinity() : *low - 1;
    }

    const Pool& pool_;
    const Options& options_;
    const std::function<void(double)>& progress_;
    Resampling nights_;
    double all_ = 0, done_ = 0;
    Qualification result_;
};

}  // namespace

double Qualification::false_alarms_per_20() const {
    return quiet.nights == 0
               ? std::numeric_limits<double>::quiet_NaN()
               : 20 * static_cast<double>(quiet.failed) / static_cast<double>(quiet.nights);
}

double Qualification::detection(double factor, bool of_recorded) const {
    double sum = 0;
    int n = 0;
    for (const RowQuality& row : rows) {
        const auto& shares = of_recorded ? row.recorded : row.detected;
        const auto found = shares.find(factor);
        if (found == shares.end()) continue;
        sum += found->second;
        ++n;
    }
    return n == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / n;
}

double Qualification::measured_slowdown(double factor) const {
    std::vector<double> slowdowns;
    for (const RowQuality& row : rows)
        if (const auto found = row.measured.find(factor);
            found != row.measured.end() && std::isfinite(found->second))
            slowdowns.push_back(found->second);
    return slowdowns.empty() ? std::nan("") : statistics::median(slowdowns);
}

bool Qualification::fit() const {
    return static_cast<int>(rows.size()) >= fewest_rows_to_be_fit && false_alarms_per_20() <= 1 &&
           detection(1.1, false) >= share_to_be_fit;
}

Qualification qualify(const Pool& pool, const gate::SuiteFile& suite, const Options& options,
                      const std::function<void(double)>& progress) {
    Qualification result = Qualifying(pool, suite, options, progress).run();
    result.suite = suite.name;
    result.options = options;
    result.pool_rounds = pool.rounds;
    result.exact_rows = pool.exact_rows;
    result.short_rows = pool.short_rows;
    result.pool_seconds = pool.seconds;
    result.pool_first = pool.first;
    result.pool_last = pool.last;
    return result;
}

}  // namespace assay::qualify
