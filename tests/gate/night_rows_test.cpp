// Candidates, margins and evidence, from arms made by hand.
#include "suite/gate/night_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::gate {
namespace {

using compare::Verdict;

compare::Series series_of(const std::string& metric, double level, double step = 0.0005) {
    compare::Series series;
    series.name = {"a/b", "c", {}, metric};
    series.unit = "s";
    series.better = Direction::lower;
    series.context = {{"profile", "toy"}, {"provenance", "measured"}};
    for (int round = 0; round < 5; ++round)
        series.points.push_back({level * (1 + step * round), "round " + std::to_string(round), ""});
    return series;
}

class NightRows : public ::testing::Test {
  protected:
    /// `tilt`: tonight's rounds go from so much below to so much above, in steps of it.
    bool old_program_ = false;
    std::vector<NightRow> rows(double baseline, double tonight, const RowPast& past = {},
                               double tilt = 0) {
        a_ = {"", {series_of("seconds", baseline)}, {}};
        b_ = {"", {series_of("seconds", tonight)}, {}};
        for (std::size_t i = 0; i < b_.series[0].points.size(); ++i)
            b_.series[0].points[i].value += tilt * (static_cast<double>(i) - 2);
        RowInputs inputs;
        inputs.baseline = &a_;
        inputs.tonight = &b_;
        inputs.gates = &gates_;
        inputs.old_program = old_program_;
        inputs.past[{"a/b c", "seconds"}] = past;
        return night_rows(inputs);
    }
    std::map<std::string, SeriesGate> gates_ = {{"a/b c", {{}, 0.02, false, 5}}};

  private:
    compare::Arm a_, b_;
};

TEST_F(NightRows, BeyondTheMarginIsACandidate) {
    EXPECT_FALSE(rows(1, 1.01).at(0).candidate);
    EXPECT_FALSE(rows(1, 0.8).at(0).candidate);
    const NightRow row = rows(1, 1.1).at(0);
    EXPECT_TRUE(row.candidate);
    EXPECT_EQ(row.against_baseline.verdict, Verdict::slower);
    EXPECT_EQ(row.history_change, std::nullopt);
}

TEST_F(NightRows, SlowerBeyondTheMarginByTheMedianAloneIsACandidateToo) {
    gates_ = {{"a/b c", {{}, 0.05, false, 5}}};
    // Ratios from 1.02 to 1.1, the median 1.06: reruns are to find out.
    const NightRow row = rows(1, 1.06, {}, 0.01).at(0);
    EXPECT_EQ(row.against_baseline.verdict, Verdict::ambiguous);
    EXPECT_TRUE(row.candidate);
    EXPECT_EQ(row.margin, 0.05);
    EXPECT_TRUE(rows(1, 1.06, {}, 0.04).at(0).candidate) << "some ratios are below 1";
    EXPECT_FALSE(rows(1, 1.04, {}, 0.01).at(0).candidate) << "the median is within the margin";
}

TEST_F(NightRows, NotWhereItsHistoryIsUsedToIt) {
    // Twelve nights that swing by 10 %: each is further from those before than 1.1 is.
    RowPast restless;
    for (int i = 0; i < 12; ++i) restless.medians.push_back(i % 2 == 0 ? 1.0 : 1.12);
    const NightRow row = rows(1, 1.1, restless).at(0);
    ASSERT_TRUE(row.history_change.has_value());
    EXPECT_FALSE(row.candidate);
    old_program_ = true;
    EXPECT_FALSE(rows(1, 1.1, restless).at(0).candidate) << "within its own spread";
    EXPECT_TRUE(rows(1, 1.2, restless).at(0).candidate);
    old_program_ = false;
    EXPECT_FALSE(rows(1, 1.2, restless).at(0).candidate) << "nothing could tell";
    // Its own spread has become its margin, too.
    EXPECT_NEAR(row.against_baseline.margin, 0.12, 1e-9);
    RowPast quiet;
    for (int i = 0; i < 12; ++i) quiet.medians.push_back(1.0 + 0.0005 * (i % 3));
    EXPECT_TRUE(rows(1, 1.1, quiet).at(0).candidate);
}

TEST_F(NightRows, OnlyWhatTheSuiteNamesIsGated) {
    gates_ = {{"a/b c", {{"other"}, 0.02, false}}};
    EXPECT_TRUE(rows(1, 2).empty());
    gates_ = {{"x/y z", {{}, 0.02, false}}};
    EXPECT_TRUE(rows(1, 2).empty());
    gates_ = {{"a/b c", {{"seconds"}, 0.5, false}}};
    EXPECT_FALSE(rows(1, 1.1).at(0).candidate);  // its own margin
}

TEST(OwnSpread, IsTheDistanceOfHonestNights) {
    EXPECT_EQ(own_spread({1, 2, 3, 4}), 0);
    EXPECT_EQ(own_spread({5, 5, 5, 5, 5}), 0);
    // One outlier among ten nights is in 9 of 45 pairs: more than one in ten.
    std::vector<double> nights(9, 1.0);
    nights.push_back(1.3);
    EXPECT_NEAR(own_spread(nights), 0.3, 1e-12);
    // One among 20 is in 19 of 190, two are in 36; what is older does not count.
    std::vector<double> many(20, 1.0);
    many[3] = 1.3;
    EXPECT_LT(own_spread(many), 0.05);
    many[8] = 1.3;
    EXPECT_NEAR(own_spread(many), 0.3, 1e-12);
    many.insert(many.end(), 15, 1.0);
    EXPECT_LT(own_spread(many), 0.05);
    // Scale invariant.
    std::vector<double> scaled;
    for (const double night : nights) scaled.push_back(night * 7);
    EXPECT_NEAR(own_spread(scaled), own_spread(nights), 1e-12);
}

TEST(PatternMatches, AsAShellDoes) {
    EXPECT_TRUE(pattern_matches("lte/fig8 *", "lte/fig8 dense n=1"));
    EXPECT_TRUE(pattern_matches("*dense*", "lte/fig8 dense n=1"));
    EXPECT_FALSE(pattern_matches("lte/fig8", "lte/fig8 dense n=1"));
}

TEST(EvidenceOf, FollowsTheRerun) {
    const auto evidence = [](Verdict against, bool candidate, std::optional<Verdict> rerun,
                             bool muted = false) {
        NightRow row;
        row.against_baseline.verdict = against;
        row.candidate = candidate;
        row.muted = muted;
        if (rerun) {
            row.rerun.emplace();
            row.rerun->verdict = *rerun;
        }
        return evidence_of(row);
    };
    EXPECT_EQ(evidence(Verdict::same, false, {}), Evidence::same);
    EXPECT_EQ(evidence(Verdict::faster, false, {}), Evidence::same);
    EXPECT_EQ(evidence(Verdict::ambiguous, false, {}), Evidence::none);
    EXPECT_EQ(evidence(Verdict::failed, false, {}), Evidence::none);
    EXPECT_EQ(evidence(Verdict::not_comparable, false, {}), Evidence::none);
    EXPECT_EQ(evidence(Verdict::slower, false, {}), Evidence::none);  // usual for it
    EXPECT_EQ(evidence(Verdict::slower, true, {}), Evidence::none);   // no budget left
    EXPECT_EQ(evidence(Verdict::slower, true, Verdict::slower), Evidence::slower);
    EXPECT_EQ(evidence(Verdict::slower, true, Verdict::same), Evidence::not_again);
    EXPECT_EQ(evidence(Verdict::slower, true, Verdict::faster), Evidence::not_again);
    EXPECT_EQ(evidence(Verdict::slower, true, Verdict::ambiguous), Evidence::none);
    EXPECT_EQ(evidence(Verdict::slower, true, Verdict::failed), Evidence::none);
    EXPECT_EQ(evidence(Verdict::slower, true, {}, true), Evidence::slower);
}

TEST(EvidenceOf, WordsGoBothWays) {
    for (const Evidence evidence :
         {Evidence::none, Evidence::slower, Evidence::not_again, Evidence::same})
        EXPECT_EQ(parse_evidence(to_string(evidence)), evidence);
    EXPECT_EQ(parse_evidence("maybe"), std::nullopt);
}

}  // namespace
}  // namespace assay::gate
