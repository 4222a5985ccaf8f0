#include "suite/gate/night_verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "suite/gate/night_rows.hpp"
#include "suite/gate/output/night_words.hpp"
#include "tests/gate/night_fixture.hpp"

namespace assay::gate {
namespace {

using compare::Reason;
using compare::RowVerdict;

NightRow row_of(double ratio, RowVerdict verdict = RowVerdict::same,
                Reason reason = Reason::within_margin) {
    NightRow row;
    row.against_baseline = compared_row({"a/b", "c", {}, "seconds"}, ratio, 0.001, verdict, reason);
    row.evidence = evidence_of(row);
    return row;
}

Night night_of(std::vector<NightRow> rows) {
    Night night;
    night.baseline_session = "x";
    night.rows = std::move(rows);
    judge(night);
    return night;
}

TEST(NightVerdict, ExitCodesAreThoseOfTheDesign) {
    EXPECT_EQ(exit_code(NightVerdict::clean), 0);
    EXPECT_EQ(exit_code(NightVerdict::error), 1);
    EXPECT_EQ(exit_code(NightVerdict::regression), 2);
    EXPECT_EQ(exit_code(NightVerdict::ambiguous), 3);
}

TEST(NightVerdict, ACandidateAloneOnlyWarns) {
    NightRow row = row_of(1.5, RowVerdict::slower, Reason::beyond_margin);
    row.step = {std::nullopt, State::candidate, ""};
    const Night night = night_of({row, row_of(1), row_of(1), row_of(1)});
    EXPECT_EQ(night.verdict, NightVerdict::clean);
    EXPECT_TRUE(is_warning(night.rows[0]));
}

TEST(NightVerdict, ANightThatSawHardlyAnyRowOfItsBaselineIsNotClean) {
    NightRow gone = row_of(1, RowVerdict::not_comparable, Reason::only_in_a);
    NightRow added = row_of(1, RowVerdict::not_comparable, Reason::only_in_b);
    EXPECT_EQ(night_of({row_of(1), row_of(1), gone}).verdict, NightVerdict::clean);
    EXPECT_EQ(night_of({row_of(1), gone, gone}).verdict, NightVerdict::ambiguous);
    EXPECT_EQ(night_of({row_of(1), added, added}).verdict, NightVerdict::clean);
    EXPECT_EQ(night_of({added, added}).verdict, NightVerdict::ambiguous) << "nothing was compared";
}

TEST(NightVerdict, ConfirmedFailsUnlessMuted) {
    NightRow row = row_of(1.05, RowVerdict::slower, Reason::beyond_margin);
    row.step = {State::candidate, State::confirmed, ""};
    EXPECT_EQ(night_of({row}).verdict, NightVerdict::regression);
    row.muted = true;
    EXPECT_EQ(night_of({row, row_of(1)}).verdict, NightVerdict::clean);
}

TEST(NightVerdict, ANightInWhichNothingIsComparedIsNotClean) {
    NightRow muted = row_of(1);
    muted.muted = true;
    const Night blind = night_of({muted, muted, muted, muted});
    EXPECT_EQ(blind.verdict, NightVerdict::ambiguous);
    EXPECT_EQ(blind.geometric_mean, std::nullopt);
    EXPECT_EQ(verdict_words(blind),
              "Ambiguous: no row could be judged; 0 of 4 rows compared; 4 muted");
    EXPECT_EQ(night_of({}).verdict, NightVerdict::ambiguous);
    EXPECT_EQ(night_of({row_of(1.1, RowVerdict::ambiguous, Reason::bimodal)}).verdict,
              NightVerdict::ambiguous);
    Night first = night_of({});
    first.baseline_session.clear();
    judge(first);
    EXPECT_EQ(first.verdict, NightVerdict::no_baseline);
    EXPECT_EQ(exit_code(first.verdict), 0);
}

TEST(NightVerdict, RowsAreCountedByWhatCameOfThem) {
    NightRow muted = row_of(1);
    muted.muted = true;
    NightRow open = row_of(1.5, RowVerdict::slower, Reason::beyond_margin);
    open.candidate = true;  // and not rerun
    NightRow waits = row_of(std::nan(""), RowVerdict::not_comparable, Reason::only_in_a);
    waits.step = {State::candidate, State::candidate, "waits for a night that can tell"};
    const Night night = night_of({row_of(1), row_of(1), row_of(1), muted, open, waits,
                                  row_of(1.1, RowVerdict::ambiguous, Reason::bimodal)});
    EXPECT_EQ(verdict_words(night),
              "Clean; 3 of 7 rows compared, 1 candidate; 1 muted, 1 undecided, 1 not compared, 1 "
              "informational");
}

TEST(NightVerdict, TheGeometricMeanFailsWhenRerunsAgree) {
    // Each row ambiguous by itself; all together 3 % slower.
    const auto slow = [](double again = 1.03) {
        NightRow row = row_of(1.03, RowVerdict::ambiguous, Reason::straddles_margin);
        row.rerun = compared_row({"a/b", "c", {}, "seconds"}, again, 0.001, RowVerdict::ambiguous,
                                 Reason::straddles_margin);
        row.rerun_paired = true;
        return row;
    };
    const Night night = night_of({slow(), slow(), slow()});
    EXPECT_NEAR(night.geometric_mean.value(), 1.03, 1e-12);
    EXPECT_EQ(night.verdict, NightVerdict::regression);
    // Old and new program are alike tonight: the machine is slow.
    std::vector<NightRow> rows(9, row_of(1.05, RowVerdict::ambiguous, Reason::straddles_margin));
    for (int i = 0; i < 3; ++i) rows.push_back(slow(1));
    EXPECT_TRUE(mean_is_suspicious(night_of(rows)));
    EXPECT_NE(night_of(rows).verdict, NightVerdict::regression);
    // Nobody knows.
    for (NightRow& row : rows) row.rerun.reset();
    EXPECT_TRUE(mean_is_suspicious(night_of(rows)));
    EXPECT_NE(night_of(rows).verdict, NightVerdict::regression);
    // Two rows are no mean.
    EXPECT_EQ(night_of({slow(), slow()}).geometric_mean, std::nullopt);
    // The other way round nothing fails.
    const auto fast = [] { return row_of(0.97, RowVerdict::ambiguous, Reason::straddles_margin); };
    EXPECT_EQ(night_of({fast(), fast(), fast()}).verdict, NightVerdict::ambiguous);
}

TEST(NightVerdict, TheSlowestRowsAreRerunWhenAllLookSlower) {
    Night night;
    night.margin = 0.02;
    for (int i = 0; i < 15; ++i) night.rows.push_back(row_of(1.03 + 0.001 * i));
    night.rows[14].candidate = true;  // rerun anyway
    mark_for_mean(night);
    for (int i = 0; i < 15; ++i)
        EXPECT_EQ(night.rows[static_cast<std::size_t>(i)].rerun_for_mean, i >= 4 && i < 14) << i;
    for (NightRow& row : night.rows) row = row_of(1.001);
    mark_for_mean(night);
    for (const NightRow& row : night.rows) EXPECT_FALSE(row.rerun_for_mean);
}

TEST(NightVerdict, ASingleRowIsNotAllRowsTogether) {
    NightRow slow = row_of(1.5, RowVerdict::slower, Reason::beyond_margin);
    slow.step = {std::nullopt, State::candidate, ""};
    const Night night = night_of({slow, row_of(1), row_of(1), row_of(1.001)});
    EXPECT_GT(night.geometric_mean.value(), 1.02);
    EXPECT_EQ(night.verdict, NightVerdict::clean);
}

TEST(NightVerdict, RerunsInTurnsCountInTheMean) {
    NightRow row = row_of(1.2, RowVerdict::slower, Reason::beyond_margin);
    row.rerun = compared_row({"a/b", "c", {}, "seconds"}, 1.0, 0.001, RowVerdict::same,
                             Reason::within_margin);
    EXPECT_NEAR(night_of({row, row, row}).geometric_mean.value(), 1.2, 1e-12);
    row.rerun_paired = true;
    EXPECT_NEAR(night_of({row, row, row}).geometric_mean.value(), 1, 1e-12);
}

TEST(NightVerdict, TheMeanIsOfSlowdownsWhicheverWayIsBetter) {
    NightRow higher = row_of(1 / 1.1);
    higher.against_baseline.better = Direction::higher;
    const Night night = night_of({row_of(1.1), higher, row_of(1.1)});
    EXPECT_NEAR(night.geometric_mean.value(), 1.1, 1e-12);
}

TEST(NightVerdict, ASlowMachineMovesControlAndRowsAlike) {
    Night night;
    night.rows = {row_of(1.1), row_of(1.1), row_of(1.1)};
    night.control = {{"a", 1.1}, {"b", 1.1}};
    judge(night);
    EXPECT_NEAR(night.geometric_mean.value(), 1, 1e-12);
    EXPECT_NEAR(night.rows[0].relative_to_control, 1, 1e-12);
    EXPECT_NE(night.verdict, NightVerdict::regression);
}

TEST(NightVerdict, TheNoiseOfTheControlIsNotEverybodys) {
    EXPECT_EQ(control_slowdown(compared_row({"assay/control", "fixed", {}, "processes"}, 0.84, 0.2,
                                            RowVerdict::ambiguous, Reason::straddles_margin)),
              1.0);
    EXPECT_EQ(control_slowdown(compared_row({"assay/control", "fixed", {}, "arithmetic"}, 1.2, 0.01,
                                            RowVerdict::slower, Reason::beyond_margin)),
              1.2);
}

TEST(NightVerdict, WhatIsNotJudgedDoesNotCountInTheMean) {
    NightRow muted = row_of(3);
    muted.muted = true;
    const Night night = night_of({row_of(1), row_of(1), row_of(1), muted,
                                  row_of(3, RowVerdict::ambiguous, Reason::bimodal),
                                  row_of(3, RowVerdict::slower, Reason::changed),
                                  row_of(3, RowVerdict::not_comparable, Reason::context_differs)});
    EXPECT_EQ(night.geometric_mean, 1);
}

TEST(NightVerdict, FailuresAndAmbiguity) {
    Night night = night_of({row_of(1)});
    EXPECT_EQ(night.verdict, NightVerdict::clean);
    night.failures = {"gone"};
    judge(night);
    EXPECT_EQ(night.verdict, NightVerdict::error);
    const auto open = [] { return row_of(1.01, RowVerdict::ambiguous, Reason::straddles_margin); };
    EXPECT_EQ(night_of({open(), row_of(1)}).verdict, NightVerdict::clean);
    EXPECT_EQ(night_of({open(), open(), row_of(1)}).verdict, NightVerdict::ambiguous);
}

TEST(NightVerdict, ANightOfWhichMostIsOutOfSightIsNotClean) {
    for (const Reason reason : {Reason::context_differs, Reason::all_excluded}) {
        NightRow unseen = row_of(std::nan(""), RowVerdict::not_comparable, reason);
        EXPECT_EQ(night_of({unseen}).verdict, NightVerdict::ambiguous);
        EXPECT_EQ(night_of({unseen, unseen, row_of(1)}).verdict, NightVerdict::ambiguous);
        EXPECT_EQ(night_of({unseen, row_of(1)}).verdict, NightVerdict::clean);
        unseen.muted = true;
        EXPECT_EQ(night_of({unseen, unseen, row_of(1)}).verdict, NightVerdict::clean);
    }
    // What was added to the suite has nothing to be compared with yet, and that is no surprise.
    for (const Reason reason : {Reason::only_in_a, Reason::only_in_b})
        EXPECT_EQ(
            night_of({row_of(1), row_of(std::nan(""), RowVerdict::not_comparable, reason)}).verdict,
            NightVerdict::clean);
}

TEST(NightWording, EveryHeadingHasItsRowInTheFixture) {
    const Night night = eventful_night();
    const auto groups = by_heading(night);
    for (int i = 0; i < heading_count; ++i)
        EXPECT_EQ(groups[static_cast<std::size_t>(i)].size(), 1u) << title(static_cast<Heading>(i));
}

TEST(NightWording, AHeadingIsNoOtherThanTheStanding) {
    NightRow decided;
    decided.against_baseline =
        compared_row({"a", "", {}, "m"}, 1.2, 0.3, RowVerdict::ambiguous, Reason::bimodal);
    EXPECT_EQ(heading(decided), Heading::informational);
    decided.candidate = true;
    decided.evidence = Evidence::not_again;
    EXPECT_EQ(heading(decided), Heading::taken_back);
    NightRow of_two_builds;
    of_two_builds.against_baseline =
        compared_row({"a", "", {}, "m"}, 1, 0.01, RowVerdict::same, Reason::within_margin);
    EXPECT_EQ(heading(of_two_builds), Heading::undecided) << "nothing of that night is judged";
}

TEST(NightWording, ChangesReadTheRightWayRound) {
    compare::Row row =
        compared_row({"a", "", {}, "m"}, 1.068, 0.01, RowVerdict::slower, Reason::beyond_margin);
    EXPECT_EQ(change_words(row), "6.8 % slower");
    EXPECT_EQ(ratio_words(row), "1.068 [1.058, 1.078]");
    row.ratio = 0.9;
    EXPECT_EQ(change_words(row), "10 % faster");
    row.better = Direction::higher;
    EXPECT_EQ(change_words(row), "10 % lower");
    row.ratio = 5;
    EXPECT_EQ(change_words(row), "5.0 times better");
    row.better = Direction::none;
    EXPECT_EQ(change_words(row), "ratio 5");
    row.ratio = std::nan("");
    EXPECT_EQ(change_words(row), "no ratio");
}

}  // namespace
}  // namespace assay::gate
