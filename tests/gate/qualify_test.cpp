// What a qualification says of pools whose noise is known.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "suite/gate/qualify/qualification.hpp"

namespace assay::qualify {
namespace {

constexpr int rounds = 40;

PoolRow row_of(const std::string& metric, Direction better = Direction::lower) {
    PoolRow row;
    row.series.name = {"a/b", "c", {}, metric};
    row.series.unit = "s";
    row.series.better = better;
    row.series.context = {{"profile", "toy"}, {"provenance", "measured"}, {"scenario", ""}};
    row.gate.margin = 0.03;
    row.seconds = 0.1;
    return row;
}

/// Rows of lognormal noise; `drift` is how much the last round is above the first.
Pool pool_of(int rows, double sigma, double drift = 0) {
    std::mt19937_64 engine(7);
    std::normal_distribution<double> normal;
    Pool pool;
    pool.rounds = rounds;
    for (int n = 0; n < rows; ++n) {
        PoolRow row =
            row_of("m" + std::to_string(n), n % 2 == 0 ? Direction::lower : Direction::higher);
        for (int round = 0; round < rounds; ++round)
            row.honest.push_back(std::exp(sigma * normal(engine)) * (1 + drift * round / rounds));
        pool.rows.push_back(std::move(row));
    }
    return pool;
}

gate::SuiteFile suite() {
    gate::SuiteFile suite;
    suite.name = "made";
    suite.margin = 0.03;
    return suite;
}

Options few() { return {5, 10, 40, 1}; }

TEST(Qualification, QuietRowsGiveNoAlarmAndSmallSlowdownsAreFound) {
    const Pool pool = pool_of(60, 0.004);
    const Qualification result = qualify(pool, suite(), few(), {});
    EXPECT_EQ(result.quiet.nights, 50);
    EXPECT_EQ(result.quiet.failed, 0);
    ASSERT_EQ(result.rows.size(), 60u);
    EXPECT_GT(result.detection(1.1, false), 0.99);
    // Within the margin, so not worth an alarm.
    EXPECT_LT(result.detection(1.01, false), 0.01);
    EXPECT_TRUE(result.fit());
    for (const RowQuality& row : result.rows) {
        EXPECT_GT(row.floor, 0.03 - 1e-9) << row.id.metric;
        EXPECT_LE(row.floor, 0.1 + 1e-9) << row.id.metric;
        EXPECT_LT(row.spread, 0.02) << row.id.metric;
    }
    // All rows together are judged beyond the margin.
    EXPECT_EQ(result.mean_fails.at(1.1), 1);
    EXPECT_EQ(result.mean_fails.at(1.02), 0);
}

TEST(Qualification, NoisyRowsAreNotFitAndSayWhatTheyCouldFind) {
    const Pool pool = pool_of(60, 0.2);
    const Qualification result = qualify(pool, suite(), few(), {});
    EXPECT_LT(result.detection(1.1, false), 0.5);
    EXPECT_FALSE(result.fit());
    EXPECT_LE(result.false_alarms_per_20(), 1);
    for (const RowQuality& row : result.rows) EXPECT_GT(row.floor, 0.1) << row.id.metric;
    EXPECT_NE(qualification_text(result).find("not fit"), std::string::npos);
}

TEST(Qualification, FewerThanFiftyRowsAreNotFit) {
    EXPECT_FALSE(qualify(pool_of(49, 0.004), suite(), few(), {}).fit());
}

TEST(Qualification, ADriftOfTheMachineMakesNoAlarmByItself) {
    const Qualification result = qualify(pool_of(55, 0.01, 0.05), suite(), few(), {});
    EXPECT_LE(result.false_alarms_per_20(), 1);
}

TEST(Qualification, IsRepeatable) {
    const Pool pool = pool_of(10, 0.05);
    const auto json = [&] { return qualification_json(qualify(pool, suite(), few(), {})); };
    EXPECT_EQ(json(), json());
}

TEST(Qualification, ReallySlowedSamplesAreJudgedByTheirValues) {
    Pool pool = pool_of(2, 0.004);
    for (const double value : pool.rows[0].honest) {
        pool.rows[0].slowed[1.1].push_back(value * 1.1);  // as ordered
        pool.rows[1].slowed[1.1].push_back(value);        // the order did nothing
    }
    pool.rows[1].honest = pool.rows[0].honest;
    const Qualification result = qualify(pool, suite(), few(), {});
    EXPECT_GT(result.rows[0].recorded.at(1.1), 0.95);
    EXPECT_NEAR(result.rows[0].measured.at(1.1), 1.1, 1e-9);
    EXPECT_LT(result.rows[1].recorded.at(1.1), 0.05);
    EXPECT_NEAR(result.rows[1].measured.at(1.1), 1, 1e-9);
    EXPECT_GT(result.rows[1].detected.at(1.1), 0.95) << "multiplied values are found all the same";
}

TEST(Qualification, FailedSamplesAreMissingAndNothingMore) {
    Pool pool = pool_of(3, 0.004);
    pool.rows[0].honest.assign(rounds, std::nan(""));
    for (int round = 0; round < rounds; round += 7)
        pool.rows[1].honest[static_cast<std::size_t>(round)] = std::nan("");
    const Qualification result = qualify(pool, suite(), few(), {});
    EXPECT_EQ(result.rows[0].detected.at(1.1), 0);
    EXPECT_EQ(result.rows[2].detected.at(1.1), 1);
    EXPECT_EQ(result.quiet.failed, 0);
}

TEST(MakePool, PutsValuesInTheirRoundsAndSlowedOnesBeside) {
    compare::Arm arm;
    std::vector<store::Sample> samples;
    const auto add = [&](const std::string& scenario, double value, int skipped) {
        compare::Series series = row_of("seconds").series;
        series.name.scenario = series.context["scenario"] = scenario;
        for (int round = 0; round < 15; ++round) {
            if (round == skipped) continue;
            store::Sample sample;
            sample.id = scenario + std::to_string(round);
            sample.spec.round = round;
            sample.seconds = 2;
            sample.started = "2026-11-21T0" + std::to_string(round % 10);
            samples.push_back(sample);
            series.points.push_back({value + round, "", sample.id});
        }
        arm.series.push_back(std::move(series));
    };
    add("", 100, 3);
    add("slowdown=1.10", 110, -1);
    const std::map<RowId, gate::SeriesGate> gates = {{RowId{"a/b", "c"}, {{}, 0.02, false, 5}}};
    const Pool pool = make_pool(arm, samples, gates);
    ASSERT_EQ(pool.rows.size(), 1u);
    const PoolRow& row = pool.rows[0];
    EXPECT_EQ(pool.rounds, 15);
    EXPECT_EQ(row.honest[4], 104);
    EXPECT_TRUE(std::isnan(row.honest[3]));
    EXPECT_EQ(row.slowed.at(1.1)[3], 113);
    EXPECT_EQ(row.seconds, 2);
    EXPECT_EQ(pool.seconds, 58);
    EXPECT_EQ(pool.last, "2026-11-21T09");
    EXPECT_TRUE(make_pool(arm, samples, {}).rows.empty());
    EXPECT_EQ(make_pool(arm, samples, {{RowId{"a/b", "c"}, {{}, 0.02, false, 6}}}).short_rows, 1)
        << "fifteen rounds are less than three nights of six";
}

}  // namespace
}  // namespace assay::qualify
