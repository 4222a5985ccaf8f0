// How often verdicts are wrong where the truth is known: sessions that differ from one another,
// pairs whose workloads have clusters. What the rules were before is simulated beside what they
// are; suite/compare/README.md shows the tables that the disabled tests print.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "suite/measure/statistics/bimodality.hpp"
#include "suite/measure/statistics/counter_draws.hpp"
#include "suite/measure/statistics/distributions.hpp"
#include "suite/measure/statistics/quantile.hpp"
#include "tests/compare/small_arms.hpp"

namespace assay::compare::testing {
namespace {

using statistics::CounterDraws;
using Sessions = std::vector<std::vector<double>>;

constexpr double margin = 0.01;  // the default
constexpr int values_per_session = 9;

double normal(CounterDraws& draws) { return statistics::normal_quantile(draws.uniform()); }

// ---- several sessions --------------------------------------------------------------------------

/// Lognormal times around 1.
struct Spread {
    int sessions = 1;       // of each side
    double between = 0;     // of sessions
    double within = 0.01;   // of the values of one
    double two_states = 1;  // a session's machine is in one of two, so far apart, by chance
};

Sessions draw(const Spread& spread, CounterDraws& draws) {
    Sessions sessions(static_cast<std::size_t>(spread.sessions));
    for (auto& values : sessions) {
        const double state = draws.uniform() < 0.5 ? 1 : spread.two_states;
        const double level = state * std::exp(spread.between * normal(draws));
        for (int i = 0; i < values_per_session; ++i)
            values.push_back(level * std::exp(spread.within * normal(draws)));
    }
    return sessions;
}

/// What comparing several sessions was before: their values as if all were of one.
Series pooled(Series series) {
    for (Point& point : series.points) point.session = 1;
    return series;
}

/// What might have been done instead: sessions drawn with replacement, then values of each; the
/// percentiles of the ratio of medians.
Row two_stage_bootstrap(const Sessions& a, const Sessions& b, CounterDraws& draws) {
    constexpr int resamples = 400;
    std::vector<double> values;
    const auto pick = [&](const auto& from) -> const auto& {
        return from[draws.index(static_cast<std::uint32_t>(from.size()))];
    };
    const auto median_of = [&](const Sessions& side) {
        values.clear();
        for (std::size_t s = 0; s < side.size(); ++s) {
            const std::vector<double>& session = pick(side);
            for (std::size_t i = 0; i < session.size(); ++i) values.push_back(pick(session));
        }
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    };
    std::vector<double> ratios;
    for (int i = 0; i < resamples; ++i) ratios.push_back(median_of(b) / median_of(a));
    Row row;
    row.low = statistics::quantile(ratios, 0.025);
    row.high = statistics::quantile(ratios, 0.975);
    return row;
}

/// The same for a B that is so many times slower.
Row judged_by_bounds(Row row, double factor) {
    row.low *= factor;
    row.high *= factor;
    if (row.low > 1 + margin) row.verdict = RowVerdict::slower;
    if (row.high < 1 / (1 + margin)) row.verdict = RowVerdict::faster;
    return row;
}

bool is_change(const Row& row) {
    return row.verdict == RowVerdict::slower || row.verdict == RowVerdict::faster;
}

/// Shares of repetitions.
struct Rates {
    double covered = 0;      // the interval holds the true ratio, 1
    double false_alarm = 0;  // faster or slower, and nothing changed
    double missed = 0;       // not slower, though B is 10 % slower
    double interval = 0;     // there is one
    int repetitions = 0;

    void count(const Row& same, const Row& slower) {
        ++repetitions;
        interval += std::isfinite(same.low);
        covered += same.low <= 1 && 1 <= same.high;
        false_alarm += is_change(same);
        missed += slower.verdict != RowVerdict::slower;
    }
    void divide() {
        covered = interval > 0 ? covered / interval : std::nan("");
        for (double* share : {&false_alarm, &missed, &interval}) *share /= repetitions;
    }
};

constexpr double slowdown_of_all = 1.1;

Series slowed(Series series) {
    for (Point& point : series.points) point.value *= slowdown_of_all;
    return series;
}

/// Before, now, and by the bootstrap, which is slow: of every `bootstrap`-th repetition; 0: none.
std::array<Rates, 3> session_rates(const Spread& spread, int repetitions, int bootstrap = 0) {
    CounterDraws draws(static_cast<std::uint64_t>(1000 * spread.between) * 1000 +
                       static_cast<std::uint64_t>(1000 * spread.within) * 100 +
                       static_cast<std::uint64_t>(spread.sessions));
    CounterDraws resampling(5);
    std::array<Rates, 3> rates;
    for (int i = 0; i < repetitions; ++i) {
        const Sessions a = draw(spread, draws), b = draw(spread, draws);
        const Series of_a = of_sessions(a), of_b = of_sessions(b), worse = slowed(of_b);
        rates[0].count(only_row(pooled(of_a), pooled(of_b)), only_row(pooled(of_a), pooled(worse)));
        rates[1].count(only_row(of_a, of_b), only_row(of_a, worse));
        if (bootstrap == 0 || i % bootstrap != 0) continue;
        const Row row = two_stage_bootstrap(a, b, resampling);
        rates[2].count(judged_by_bounds(row, 1), judged_by_bounds(row, slowdown_of_all));
    }
    for (Rates& each : rates) each.divide();
    return rates;
}

TEST(SessionsThatDiffer, RaiseNoFalseAlarms) {
    for (const int sessions : {2, 4, 10})
        for (const double between : {0.0, 0.01, 0.03}) {
            const auto [before, now, unused] =
                session_rates({.sessions = sessions, .between = between}, 300);
            // 5 % at most in the long run; four standard errors of 300 repetitions.
            EXPECT_LE(now.false_alarm, 0.1) << sessions << " sessions, " << between;
            if (sessions >= 4) {
                EXPECT_GE(now.covered, 0.9) << sessions << " sessions, " << between;
            }
            // The simulation has the power to find the mistake.
            if (between == 0.03) {
                EXPECT_GT(before.false_alarm, 0.15) << sessions;
            }
        }
}

TEST(SessionsThatDiffer, HideNoSlowdownWhereThereAreEnough) {
    for (const auto& [sessions, between] : {std::pair{4, 0.0}, {5, 0.01}, {10, 0.03}}) {
        const Rates now = session_rates({.sessions = sessions, .between = between}, 200)[1];
        EXPECT_LE(now.missed, 0.05) << sessions << " sessions, " << between;
    }
    // With fewer there is no verdict at all, rather than a wrong one.
    EXPECT_EQ(session_rates({.sessions = 3}, 10)[1].interval, 0);
}

TEST(SessionsThatDiffer, InTwoStatesOfTheMachineRaiseNoFalseAlarms) {
    for (const int sessions : {5, 10}) {
        const auto [before, now, unused] =
            session_rates({.sessions = sessions, .two_states = 1.13}, 300);
        EXPECT_LE(now.false_alarm, 0.1) << sessions;
        EXPECT_GE(now.covered, 0.9) << sessions;
        EXPECT_LT(before.covered, 0.7) << sessions;
    }
}

// Why it is the medians: a bootstrap of few sessions has too few to draw from.
TEST(SessionsThatDiffer, AreTooFewForABootstrap) {
    for (const int sessions : {2, 3})
        EXPECT_LT(session_rates({.sessions = sessions, .between = 0.03}, 300, 1)[2].covered, 0.92)
            << sessions;
}

// ---- pairs -------------------------------------------------------------------------------------

enum class Clusters { none, by_seed, by_chance };

struct Paired {
    int pairs = 20;
    Clusters clusters = Clusters::none;
    double apart = 2;  // the factor between the clusters
    double noise = 0.01;
};

std::pair<std::vector<double>, std::vector<double>> draw(const Paired& paired,
                                                         CounterDraws& draws) {
    std::pair<std::vector<double>, std::vector<double>> sides;
    for (int i = 0; i < paired.pairs; ++i) {
        const auto level = [&] { return draws.uniform() < 0.5 ? 1 : paired.apart; };
        const double workload = paired.clusters == Clusters::by_seed ? level() : 1;
        for (auto* side : {&sides.first, &sides.second}) {
            const double state = paired.clusters == Clusters::by_chance ? level() : 1;
            side->push_back(workload * state * std::exp(paired.noise * normal(draws)));
        }
    }
    return sides;
}

/// The rule before: clusters of either side's values, too, could explain any smaller difference.
Row judged_by_clusters_of_values(const std::vector<double>& a, const std::vector<double>& b) {
    Row row = only_row(seeded(a), seeded(b));
    for (const auto* side : {&a, &b})
        if (const auto shape = statistics::bimodality(*side); shape.bimodal) {
            const double gap = std::log(shape.high / shape.low);
            if (gap > std::log1p(margin) && std::log(row.low) <= gap && std::log(row.high) >= -gap)
                row.verdict = RowVerdict::ambiguous;
        }
    return row;
}

/// Before and now; a miss is one of a slowdown by `slowdown`.
std::array<Rates, 2> pair_rates(const Paired& paired, double slowdown, int repetitions) {
    CounterDraws draws(static_cast<std::uint64_t>(paired.pairs) +
                       1000 * static_cast<std::uint64_t>(paired.clusters));
    std::array<Rates, 2> rates;
    for (int i = 0; i < repetitions; ++i) {
        const auto [a, b] = draw(paired, draws);
        std::vector<double> worse = b;
        for (double& value : worse) value *= slowdown;
        rates[0].count(judged_by_clusters_of_values(a, b), judged_by_clusters_of_values(a, worse));
        rates[1].count(only_row(seeded(a), seeded(b)), only_row(seeded(a), seeded(worse)));
    }
    for (Rates& each : rates) each.divide();
    return rates;
}

TEST(PairsOfClusters, ShowARegressionThatEveryPairHas) {
    for (const int pairs : {10, 20, 40}) {
        const auto [before, now] = pair_rates({pairs, Clusters::by_seed}, 1.3, 200);
        EXPECT_LE(now.missed, 0.01) << pairs;
        EXPECT_GT(before.missed, 0.5) << pairs << ": the simulation finds the mistake";
    }
}

TEST(PairsOfClusters, RaiseNoFalseAlarms) {
    for (const int pairs : {5, 10, 20, 40})
        for (const Clusters clusters : {Clusters::none, Clusters::by_seed, Clusters::by_chance}) {
            const Rates now = pair_rates({pairs, clusters, 1.13}, 1.1, 300)[1];
            EXPECT_LE(now.false_alarm, 0.1) << pairs << ", clusters " << int(clusters);
        }
}

// ---- the tables of suite/compare/README.md -----------------------------------------------------

constexpr int many = 10'000;

std::string percent(double share) {
    if (std::isnan(share)) return "–";
    char text[16];
    std::snprintf(text, sizeof text, "%.1f", 100 * share);
    return text;
}

void print_row(const std::string& names, std::span<const Rates> rates, bool coverage) {
    std::string line = "| " + names + " |";
    if (coverage)
        for (const Rates& each : rates) line += ' ' + percent(each.covered) + " |";
    for (const Rates& each : rates) line += ' ' + percent(each.false_alarm) + " |";
    for (const Rates& each : rates) line += ' ' + percent(each.missed) + " |";
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

TEST(SessionsThatDiffer, DISABLED_Table) {
    for (const double within : {0.01, 0.03})
        for (const double between : {0.0, 0.01, 0.03})
            for (const int sessions : {1, 2, 3, 4, 5, 10}) {
                const auto rates = session_rates(
                    {.sessions = sessions, .between = between, .within = within}, many, 10);
                char names[64];
                std::snprintf(names, sizeof names, "%g %% | %g %% | %d", 100 * within,
                              100 * between, sessions);
                print_row(names, rates, true);
            }
    for (const int sessions : {1, 2, 3, 4, 5, 10}) {
        const auto rates = session_rates({.sessions = sessions, .two_states = 1.13}, many, 10);
        print_row("1 % | two states | " + std::to_string(sessions), rates, true);
    }
}

TEST(PairsOfClusters, DISABLED_Table) {
    for (const Clusters clusters : {Clusters::by_seed, Clusters::by_chance})
        for (const double slowdown : {1.1, 1.3})
            for (const int pairs : {10, 20, 40}) {
                const Paired paired{pairs, clusters, clusters == Clusters::by_chance ? 1.13 : 2};
                char names[64];
                std::snprintf(names, sizeof names, "%s | %d | %g %%",
                              clusters == Clusters::by_seed ? "by seed" : "by chance", pairs,
                              100 * (slowdown - 1));
                print_row(names, pair_rates(paired, slowdown, many), false);
            }
}

}  // namespace
}  // namespace assay::compare::testing
