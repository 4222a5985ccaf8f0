// What earlier nights say about a row: which runs are nights of their own, and what counts of them.
#include "suite/gate/row_past.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::gate {
namespace {

using ::testing::ElementsAre;

const RowId row = {"a/b", "c", {}, "seconds"};

class RowPasts : public ::testing::Test {
  protected:
    RowPasts() {
        inputs.tonight = inputs.began = "2026-11-21T02:00:00.000Z";
        inputs.min_apart_h = 4;
    }
    void ran(const std::string& at, Evidence evidence, std::optional<double> median) {
        const std::string id = "night of " + at;
        inputs.rows.push_back(
            {id, at + ":00.000Z", at, {row, median, std::string(to_string(evidence))}});
        inputs.places.emplace(at, static_cast<long>(inputs.places.size()) + 1);
    }
    void candidate_since(const std::string& at) {
        store::RegressionRecord record;
        record.row = row;
        record.state = "candidate";
        record.steps = {{"", "night of " + at, "candidate", ""},
                        {"", "another night", "candidate", ""}};
        inputs.regressions = {record};
    }
    RowPast past() const { return row_pasts(inputs).at(row); }

    PastInputs inputs;
};

TEST_F(RowPasts, ACandidateOfMinutesAgoIsOfThisNight) {
    ran("2026-11-21T01:50", Evidence::slower, 2);
    candidate_since("2026-11-21T01:50");
    EXPECT_EQ(past().state, State::candidate);
    EXPECT_FALSE(past().another_night);
    inputs.min_apart_h = 0;
    EXPECT_TRUE(past().another_night);
    inputs.min_apart_h = 4;
    inputs.tonight = "2026-11-21T05:50:00.000Z";
    EXPECT_TRUE(past().another_night);
}

/// This one was interrupted and went on: what it found good was measured before.
TEST_F(RowPasts, TonightsGoodSamplesCountFromWhenTheyWereMade) {
    ran("2026-11-21T01:50", Evidence::same, 2);
    inputs.tonight = "2026-11-21T07:00:00.000Z";
    EXPECT_FALSE(past().same_before);
    inputs.began = "2026-11-21T07:00:00.000Z";
    EXPECT_TRUE(past().same_before);
}

/// It was interrupted and went on, a day after it had begun.
TEST_F(RowPasts, WhatCountsIsWhenTheEarlierRunEnded) {
    ran("2026-11-20T02:00", Evidence::slower, 2);
    candidate_since("2026-11-20T02:00");
    EXPECT_TRUE(past().another_night);
    inputs.rows.back().finished = "2026-11-21T01:50:00.000Z";
    EXPECT_FALSE(past().another_night);
    inputs.rows.back().row.evidence = to_string(Evidence::same);
    EXPECT_FALSE(past().same_before);
    inputs.rows.back().finished = "2026-11-20T22:00:00.000Z";
    EXPECT_TRUE(past().same_before);
    ran("2026-11-21T01:00", Evidence::same, 3);
    EXPECT_THAT(past().medians, ElementsAre(2)) << "one night";
}

TEST_F(RowPasts, WhatCountsIsWhenItWasFirstSeen) {
    ran("2026-11-20T21:00", Evidence::slower, 2);
    ran("2026-11-21T01:50", Evidence::slower, 2);
    candidate_since("2026-11-20T21:00");
    EXPECT_TRUE(past().another_night);
}

TEST_F(RowPasts, TwoGoodNightsAreApartToo) {
    ran("2026-11-21T01:40", Evidence::same, 1);
    ran("2026-11-21T01:50", Evidence::same, 1);
    EXPECT_FALSE(past().same_before);
    inputs.rows.clear();
    ran("2026-11-20T02:00", Evidence::same, 1);
    ran("2026-11-21T01:50", Evidence::same, 1);
    EXPECT_TRUE(past().same_before);
    ran("2026-11-21T01:55", Evidence::slower, 2);
    EXPECT_FALSE(past().same_before);
    ran("2026-11-21T01:56", Evidence::same, 1);
    EXPECT_FALSE(past().same_before) << "since then it is good for minutes only";
}

TEST_F(RowPasts, OfRunsOfOneNightTheFirstCountsInTheHistory) {
    ran("2026-11-19T02:00", Evidence::same, 1);
    ran("2026-11-19T03:00", Evidence::same, 2);
    ran("2026-11-19T05:00", Evidence::same, 3);
    ran("2026-11-19T06:00", Evidence::same, 4);
    ran("2026-11-20T02:00", Evidence::slower, 5);
    ran("2026-11-20T02:10", Evidence::same, 6);
    EXPECT_THAT(past().medians, ElementsAre(1, 4, 6));
    BaselineLevel level;
    level.session = "2026-11-19T06:00";
    inputs.level = &level;
    EXPECT_THAT(past().medians, ElementsAre(4, 6)) << "older than the level";
    level.rows[row].session = "2026-11-20T02:00";
    EXPECT_THAT(past().medians, ElementsAre(6));
    level.rows[row].session = "pruned";
    EXPECT_THAT(past().medians, ElementsAre(1, 4, 6)) << "older than all that is there";
}

TEST_F(RowPasts, WhatWasRecordedAfterTheLevelCountsWhateverItsDate) {
    ran("2031-01-01T02:00", Evidence::same, 1);
    ran("2026-11-20T02:00", Evidence::same, 2);
    BaselineLevel level;
    level.session = "2026-11-20T02:00";
    inputs.level = &level;
    EXPECT_THAT(past().medians, ElementsAre(2));
    level.session = "2031-01-01T02:00";
    EXPECT_THAT(past().medians, ElementsAre(1, 2));
}

TEST_F(RowPasts, WhatAnOlderProgramMarkedAsIgnoredIsWhatItWas) {
    candidate_since("2026-11-20T21:00");
    inputs.regressions[0].steps.push_back({"", "", "confirmed", ""});
    for (int night = 0; night < 2; ++night)
        inputs.regressions[0].steps.push_back({"", "", "ignored", "muted"});
    inputs.regressions[0].state = "ignored";
    EXPECT_EQ(past().state, State::confirmed);
    inputs.regressions[0].steps.clear();
    EXPECT_EQ(past().state, std::nullopt) << "nothing is known";
    inputs.regressions[0].state = "";
    EXPECT_EQ(past().state, std::nullopt);
}

TEST_F(RowPasts, NightsWithoutVerdictAreCounted) {
    ran("2026-11-17T02:00", Evidence::none, {});
    ran("2026-11-18T02:00", Evidence::none, 1);
    EXPECT_EQ(past().open_before, 0) << "it was nothing to be rerun";
    ran("2026-11-19T02:00", Evidence::none, {});
    ran("2026-11-20T02:00", Evidence::none, {});
    EXPECT_EQ(past().open_before, 0) << "it failed, or nothing was judged";
    inputs.ended_by_budget = {row};
    EXPECT_EQ(past().open_before, 2);
    ran("2026-11-21T01:00", Evidence::not_again, 1);
    EXPECT_EQ(past().open_before, 0);
}

}  // namespace
}  // namespace assay::gate
