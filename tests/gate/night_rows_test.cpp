// Candidates, margins and evidence, from arms made by hand.
#include "suite/gate/night_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "suite/gate/night_circumstances.hpp"
#include "suite/gate/output/night_reports.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/gate/row_patterns.hpp"

namespace assay::gate {
namespace {

using compare::RowVerdict;

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
        inputs.past[{"a/b", "c", {}, "seconds"}] = past;
        return night_rows(inputs);
    }
    std::map<RowId, SeriesGate> gates_ = {{RowId{"a/b", "c"}, {{}, 0.02, false, 5}}};

  private:
    compare::Arm a_, b_;
};

TEST_F(NightRows, BeyondTheMarginIsACandidate) {
    EXPECT_FALSE(rows(1, 1.01).at(0).candidate);
    EXPECT_FALSE(rows(1, 0.8).at(0).candidate);
    const NightRow row = rows(1, 1.1).at(0);
    EXPECT_TRUE(row.candidate);
    EXPECT_EQ(row.against_baseline.verdict, RowVerdict::slower);
    EXPECT_EQ(row.history_change, std::nullopt);
}

TEST_F(NightRows, SlowerBeyondTheMarginByTheMedianAloneIsACandidateToo) {
    gates_ = {{RowId{"a/b", "c"}, {{}, 0.05, false, 5}}};
    // Ratios from 1.02 to 1.1, the median 1.06: reruns are to find out.
    const NightRow row = rows(1, 1.06, {}, 0.01).at(0);
    EXPECT_EQ(row.against_baseline.verdict, RowVerdict::ambiguous);
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
    gates_ = {{RowId{"a/b", "c"}, {{"other"}, 0.02, false}}};
    EXPECT_TRUE(rows(1, 2).empty());
    gates_ = {{RowId{"x/y", "z"}, {{}, 0.02, false}}};
    EXPECT_TRUE(rows(1, 2).empty());
    gates_ = {{RowId{"a/b", "c"}, {{"seconds"}, 0.5, false}}};
    EXPECT_FALSE(rows(1, 1.1).at(0).candidate);  // its own margin
}

/// One experiment at two profiles or modes: everything but that is the same.
compare::Series series_at(Profile profile, Provenance provenance, const std::string& metric,
                          double level) {
    compare::Series series = series_of(metric, level);
    series.name.profile = profile;
    series.name.provenance = provenance;
    series.context["profile"] = to_string(profile);
    series.context["provenance"] = to_string(provenance);
    return series;
}

const NightRow* row_at(const std::vector<NightRow>& rows, Profile profile,
                       const std::string& metric) {
    for (const NightRow& row : rows)
        if (row.against_baseline.id.profile == profile && row.against_baseline.id.metric == metric)
            return &row;
    return nullptr;
}

class TwoProfiles : public ::testing::Test {
  protected:
    TwoProfiles() {
        for (const auto& [profile, provenance] : {std::pair(Profile::toy, Provenance::measured),
                                                  {Profile::small, Provenance::emulated}})
            for (const char* metric : {"seconds", "start"}) {
                a.series.push_back(series_at(profile, provenance, metric, 1));
                b.series.push_back(series_at(profile, provenance, metric, 1.1));
            }
        inputs.baseline = &a;
        inputs.tonight = &b;
        inputs.gates = &gates;
    }

    compare::Arm a, b;
    std::map<RowId, SeriesGate> gates = {
        {series_at(Profile::toy, Provenance::measured, "", 1).name, {{}, 0.02, false, 5}},
        {series_at(Profile::small, Provenance::emulated, "", 1).name,
         {{"seconds"}, 0.3, false, 5}}};
    RowInputs inputs;
};

TEST_F(TwoProfiles, HaveSettingsOfTheirOwn) {
    const auto rows = night_rows(inputs);
    ASSERT_EQ(rows.size(), 3u) << "at small only one metric is gated";
    EXPECT_EQ(row_at(rows, Profile::small, "start"), nullptr);
    EXPECT_TRUE(row_at(rows, Profile::toy, "seconds")->candidate);
    EXPECT_EQ(row_at(rows, Profile::toy, "seconds")->margin, 0.02);
    EXPECT_FALSE(row_at(rows, Profile::small, "seconds")->candidate) << "within 30 %";
    EXPECT_EQ(row_at(rows, Profile::small, "seconds")->margin, 0.3);
}

TEST_F(TwoProfiles, HaveHistoriesAndStatesOfTheirOwn) {
    for (auto& [series, gate] : gates) gate = {{"seconds"}, 0.02, false, 5};
    RowPast& restless = inputs.past[a.series[0].name];
    for (int i = 0; i < 12; ++i) restless.medians.push_back(i % 2 == 0 ? 1.0 : 1.12);
    inputs.muted = [](const RowId& row) { return row.profile == Profile::toy; };
    const auto rows = night_rows(inputs);
    ASSERT_EQ(rows.size(), 2u);
    const NightRow *toy = row_at(rows, Profile::toy, "seconds"),
                   *small = row_at(rows, Profile::small, "seconds");
    EXPECT_FALSE(toy->candidate) << "its own nights differ by as much";
    EXPECT_TRUE(toy->muted);
    EXPECT_TRUE(small->candidate);
    EXPECT_FALSE(small->muted);
    EXPECT_FALSE(small->history_change.has_value());
    EXPECT_EQ(small->against_baseline.margin, 0.02);
}

TEST_F(TwoProfiles, AreNeverComparedWithEachOther) {
    // The baseline has the one, tonight the other.
    a.series.resize(2);
    b.series.erase(b.series.begin(), b.series.begin() + 2);
    const auto rows = night_rows(inputs);
    ASSERT_EQ(rows.size(), 3u);
    for (const NightRow& row : rows) {
        EXPECT_EQ(row.against_baseline.verdict, RowVerdict::not_comparable);
        EXPECT_EQ(row.against_baseline.reason_code, row.against_baseline.id.profile == Profile::toy
                                                        ? compare::Reason::only_in_a
                                                        : compare::Reason::only_in_b);
    }
}

TEST_F(TwoProfiles, AFailedOneStandsForItsOwnMetricsOnly) {
    // All samples of one profile failed tonight: a series without metrics.
    b.series.resize(2);
    compare::Series failed = series_at(Profile::small, Provenance::emulated, "", 1);
    failed.points.clear();
    failed.failed = 5;
    b.series.push_back(failed);
    a.series.resize(3);
    const auto rows = night_rows(inputs);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(row_at(rows, Profile::toy, "start")->against_baseline.verdict, RowVerdict::slower);
    const NightRow* small = row_at(rows, Profile::small, "seconds");
    ASSERT_NE(small, nullptr);
    EXPECT_EQ(small->against_baseline.verdict, RowVerdict::failed);
    EXPECT_EQ(small->against_baseline.id, a.series[2].name);
}

TEST_F(TwoProfiles, AnOpenRegressionStaysInSightWhereItsSeriesFailsOnBothSides) {
    const RowId open = a.series[2].name;
    for (compare::Arm* arm : {&a, &b}) {
        arm->series.resize(3);
        arm->series[2] = series_at(Profile::small, Provenance::emulated, "", 1);
        arm->series[2].points.clear();
        arm->series[2].failed = 5;
    }
    EXPECT_EQ(night_rows(inputs).size(), 3u);
    for (const State state : {State::accepted, State::confirmed}) {
        inputs.past[open].state = state;
        const auto rows = night_rows(inputs);
        const NightRow* row = row_at(rows, Profile::small, "seconds");
        EXPECT_EQ(row != nullptr, state == State::confirmed);
        if (row != nullptr) {
            EXPECT_EQ(row->against_baseline.verdict, RowVerdict::failed_before);
        }
        EXPECT_EQ(rows.size(), 3u) << "in the place of the row that stood for it";
    }
}

TEST_F(TwoProfiles, WhoseDataOrCalibrationDiffersAreToldWithTheWayOut) {
    EXPECT_EQ(context_warning(night_rows(inputs), "tiny"), std::nullopt);
    for (compare::Series& series : a.series) series.context["data"] = "1a";
    for (compare::Series& series : b.series) series.context["data"] = "1a";
    EXPECT_EQ(context_warning(night_rows(inputs), "tiny"), std::nullopt);
    b.series[0].context["data"] = "2b";
    const auto rows = night_rows(inputs);
    EXPECT_EQ(row_at(rows, Profile::toy, "seconds")->against_baseline.reason_code,
              compare::Reason::context_differs);
    EXPECT_EQ(context_warning(rows, "tiny"),
              "1 row is not compared, since data differs from the baseline: `assay baseline accept "
              "tiny` makes tonight the new one");
    b.series[1].context["data"] = "2b";
    a.series[1].context["calibration"] = "3c";
    b.series[1].context["calibration"] = "4d";
    EXPECT_EQ(context_warning(night_rows(inputs), "tiny"),
              "2 rows are not compared, since calibration and data differ from the baseline: "
              "`assay baseline accept tiny` makes tonight the new one");
    inputs.muted = [](const RowId&) { return true; };
    EXPECT_EQ(context_warning(night_rows(inputs), "tiny"), std::nullopt);
}

TEST_F(TwoProfiles, OfOtherHardwareAreToldInWhatWithTheRemedyThatFits) {
    using Facts = std::map<std::string, std::string>;
    const auto warning = [&](const Facts& then, const Facts& now) {
        for (const auto& [arm, facts, hash] : {std::tuple(&a, then, "aa"), {&b, now, "bb"}})
            for (compare::Series& series : arm->series) {
                series.context["hardware"] = hash;
                series.hardware = std::make_shared<const Facts>(facts);
            }
        return context_warning(night_rows(inputs), "tiny").value_or("none");
    };
    const std::string end = "or `assay baseline accept tiny` makes tonight the new one";
    EXPECT_EQ(
        warning({{"cores", "2"}, {"usable cores", "2"}}, {{"cores", "2"}, {"usable cores", "1"}}),
        "3 rows are not compared, since hardware (usable cores: 2, now 1) differs from the "
        "baseline: give the night as many processors as it had then (taskset, a container's "
        "cpuset); " +
            end);
    EXPECT_EQ(
        warning({{"cores", "2"}, {"usable cores", "2"}}, {{"cores", "4"}, {"usable cores", "4"}}),
        "3 rows are not compared, since hardware (cores: 2, now 4; usable cores: 2, now 4) "
        "differs from the baseline: another machine has a level of its own (--baseline NAME); " +
            end);
    const std::string long_name(60, 'x');
    EXPECT_EQ(warning({{"gpus", long_name}}, {{"gpus", "none"}}),
              "3 rows are not compared, since hardware (gpus) differs from the baseline: "
              "`nvidia-smi` says which GPUs are there; " +
                  end);
    EXPECT_EQ(warning({}, {}),
              "3 rows are not compared, since hardware differs from the baseline: "
              "`assay baseline accept tiny` makes tonight the new one");
}

TEST_F(TwoProfiles, SayWhichTheyAreInEveryReport) {
    Night night;
    night.suite = "s";
    night.baseline_session = "x";
    night.rows = night_rows(inputs);
    for (NightRow& row : night.rows) row.against_baseline.a = row.against_baseline.b = nullptr;
    for (const std::string& report :
         {junit_xml(night), markdown_summary(night), html_page(night)}) {
        EXPECT_NE(report.find("a/b c (toy, measured)"), std::string::npos) << report;
        EXPECT_NE(report.find("a/b c (small, emulated)"), std::string::npos);
    }
    EXPECT_NE(json_text(night).find("\"profile\": \"small\""), std::string::npos);
}

TEST(IsNamedBy, SeriesAsAnyReportPrintsIt) {
    const RowId row = series_at(Profile::toy, Provenance::measured, "seconds", 1).name;
    for (const char* pattern : {"a/b c", "a/b *", "*c*", "a/b c (toy)", "a/b c (toy, measured)",
                                "* (*measured)", "a/b c · seconds"})
        EXPECT_TRUE(is_named_by(pattern, row)) << pattern;
    for (const char* pattern : {"a/b", "a/b c (small)", "a/b c · watts", "* (*emulated)"})
        EXPECT_FALSE(is_named_by(pattern, row)) << pattern;
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
    const auto evidence = [](RowVerdict against, bool candidate, std::optional<RowVerdict> rerun,
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
    EXPECT_EQ(evidence(RowVerdict::same, false, {}), Evidence::same);
    EXPECT_EQ(evidence(RowVerdict::faster, false, {}), Evidence::same);
    EXPECT_EQ(evidence(RowVerdict::ambiguous, false, {}), Evidence::none);
    EXPECT_EQ(evidence(RowVerdict::failed, false, {}), Evidence::none);
    EXPECT_EQ(evidence(RowVerdict::not_comparable, false, {}), Evidence::none);
    EXPECT_EQ(evidence(RowVerdict::slower, false, {}), Evidence::none);  // usual for it
    EXPECT_EQ(evidence(RowVerdict::slower, true, {}), Evidence::none);   // no budget left
    EXPECT_EQ(evidence(RowVerdict::slower, true, RowVerdict::slower), Evidence::slower);
    EXPECT_EQ(evidence(RowVerdict::slower, true, RowVerdict::same), Evidence::not_again);
    EXPECT_EQ(evidence(RowVerdict::slower, true, RowVerdict::faster), Evidence::not_again);
    EXPECT_EQ(evidence(RowVerdict::slower, true, RowVerdict::ambiguous), Evidence::none);
    EXPECT_EQ(evidence(RowVerdict::slower, true, RowVerdict::failed), Evidence::none);
    EXPECT_EQ(evidence(RowVerdict::slower, true, {}, true), Evidence::slower);
}

TEST(EvidenceOf, WordsGoBothWays) {
    for (const Evidence evidence :
         {Evidence::none, Evidence::slower, Evidence::not_again, Evidence::same})
        EXPECT_EQ(of_word<Evidence>(to_string(evidence)), evidence);
    EXPECT_EQ(of_word<Evidence>("maybe"), std::nullopt);
}

}  // namespace
}  // namespace assay::gate
