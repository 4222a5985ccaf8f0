// Two programs against each other: the same one twice, and once with a slowdown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/compare/read_arm.hpp"
#include "suite/runner/versus/versus.hpp"
#include "tests/runner/session_fixture.hpp"
#include "tests/runner/versus/busy_system.hpp"

namespace assay::runner {
namespace {

using ::testing::HasSubstr;

class VersusTest : public assay::testing::SessionFixture {
  protected:
    Registry registry = assay::testing::make_busy_registry();
    VersusRequest request;

    VersusTest() {
        request.old_program = request.new_program = this_program();
        request.what.patterns = {"dummy/sum"};
        request.what.axes["n"] = {std::int64_t{2}};
        request.what.variants = {"a"};
        request.decision.metrics = {"total"};
        request.decision.max_rounds = 10;
    }
    VersusOutcome run() { return versus(registry, request, store, listen()); }
    void spin() {
        request.decision.metrics = {};
        request.what.patterns = {"busy/spin"};
        request.what.axes = {{"ms", {std::int64_t{20}}}};
        request.what.variants = {"same"};
        request.decision.margin = 0.05;
        request.decision.max_rounds = 20;
    }
};

TEST_F(VersusTest, TheSameProgramIsTheSame) {
    const VersusOutcome outcome = run();
    ASSERT_EQ(outcome.rows.size(), 1U);
    EXPECT_EQ(outcome.rows[0].verdict, compare::RowVerdict::same) << outcome.rows[0].reason;
    EXPECT_EQ(outcome.rows[0].id.metric, "total");
    EXPECT_EQ(outcome.rows[0].n_a, 7);
    EXPECT_EQ(outcome.rows[0].n_b, 7);
    EXPECT_EQ(outcome.rounds, 7);
    EXPECT_EQ(outcome.saved, 2 * 3);
    ASSERT_EQ(outcome.contrasts.size(), 1U);
    EXPECT_EQ(outcome.contrasts[0].verdict(), "same");
    EXPECT_EQ(notices.back().done, 14);
    EXPECT_EQ(notices.back().planned, 14);
}

TEST_F(VersusTest, RoundsTurnRoundAndSeedsAreShared) {
    request.decision.max_rounds = 3;
    run();
    std::vector<std::string> arms;
    for (const Notice& notice : notices)
        if (notice.kind == "sample_started")
            arms.push_back(notice.body.at("arm").get<std::string>() + ' ' +
                           notice.body.at("seed").dump());
    EXPECT_THAT(arms, ::testing::ElementsAre("old 1", "new 1", "new 2", "old 2", "old 3", "new 3"));
}

TEST_F(VersusTest, TwoSessionsTellWhoseTheyAreAndCanBeComparedAgain) {
    request.old_program.build = std::string(40, 'a');
    request.old_program.suspects["commit"] = "0123456789ab";
    const VersusOutcome outcome = run();
    ASSERT_EQ(store.sessions().size(), 2U);
    for (const store::Session& session : store.sessions()) {
        const bool is_old = session.id == outcome.old_session;
        EXPECT_EQ(session.state, "finished");
        EXPECT_EQ(session.build == std::string(40, 'a'), is_old);
        EXPECT_EQ(session.suspects.value("commit", "") == "0123456789ab", is_old);
        EXPECT_EQ(store.samples(session.id).size(), 7U);
    }
    const auto a = compare::arm_of_sessions(registry, store, {outcome.old_session});
    const auto b = compare::arm_of_sessions(registry, store, {outcome.new_session});
    const auto again = compare::compare(a, b);
    ASSERT_FALSE(again.empty());
    EXPECT_EQ(again[0].verdict, outcome.rows[0].verdict);
    EXPECT_EQ(again[0].reason, outcome.rows[0].reason);
}

TEST_F(VersusTest, ASlowedProgramIsFoundAndItsSamplesAreMarked) {
    spin();
    request.decision.metrics = {"wall_time"};
    request.what.axes["ms"] = {std::int64_t{10}};
    request.slowdown = 10;  // more than what else the machine does can hide
    const VersusOutcome outcome = run();
    ASSERT_EQ(outcome.rows.size(), 1U);
    EXPECT_EQ(outcome.rows[0].verdict, compare::RowVerdict::slower) << outcome.rows[0].reason;
    for (const store::Sample& sample : store.samples(outcome.new_session))
        EXPECT_EQ(sample.spec.scenario, "slowdown=10.00");
    for (const store::Sample& sample : store.samples(outcome.old_session))
        EXPECT_EQ(sample.spec.scenario, "");
    // Whoever compares them unaware is told so.
    const auto rows = compare::compare(*outcome.old_arm, *outcome.new_arm);
    ASSERT_FALSE(rows.empty());
    for (const compare::Row& row : rows)
        EXPECT_EQ(row.verdict, compare::RowVerdict::not_comparable) << row.reason;
}

TEST_F(VersusTest, RealWorkOfTheSameProgramIsNotCalledDifferent) {
    spin();
    const VersusOutcome outcome = run();
    ASSERT_EQ(outcome.rows.size(), 1U);
    EXPECT_NE(outcome.rows[0].verdict, compare::RowVerdict::slower) << outcome.rows[0].reason;
    EXPECT_NE(outcome.rows[0].verdict, compare::RowVerdict::faster) << outcome.rows[0].reason;
}

TEST_F(VersusTest, ABudgetThatEndsTheMeasuringSaysSo) {
    spin();
    request.decision.margin = 1e-6;  // never decided
    request.decision.budget_s = 1e-3;
    const VersusOutcome outcome = run();
    EXPECT_TRUE(outcome.budget_ended);
    EXPECT_EQ(outcome.rounds, 1);
    EXPECT_GT(outcome.taken_s, request.decision.budget_s);
    ASSERT_EQ(outcome.rows.size(), 1U);
    ASSERT_EQ(outcome.row_rounds.size(), 1U);
    EXPECT_EQ(outcome.row_rounds[0].end, RoundsEnd::budget);
    EXPECT_EQ(outcome.row_rounds[0].complete, 1);
    EXPECT_EQ(outcome.rows[0].verdict, compare::RowVerdict::ambiguous);
    ASSERT_EQ(outcome.rows[0].warnings.size(), 1U);
    EXPECT_THAT(outcome.rows[0].warnings[0],
                HasSubstr("the budget of 0.001 s ended the measuring after 1 of at most 20"));
}

TEST_F(VersusTest, TheTimeLeftHoldsTheControlWorkloadToo) {
    Experiment control = *registry.experiment("busy/spin");
    control.id = std::string(control_experiment);
    control.variants = {"same"};
    control.profiles.at(0).seconds_per_sample = 1000;
    System system;
    system.id = "assay";
    system.title = "The suite's own";
    system.paper = "none";
    system.experiments = {control};
    registry.add(std::move(system));
    run();
    EXPECT_EQ(notices.front().kind, "session");
    EXPECT_GE(notices.front().eta_s, 10 * 1000) << "once in each of at most ten rounds";
    EXPECT_EQ(notices.back().eta_s, 0) << "rounds that are not run are not waited for";
    EXPECT_EQ(notices.back().done, 14) << "of the two programs";
    EXPECT_EQ(notices.back().planned, 14);
    request.control = false;
    run();
    EXPECT_LT(notices.front().eta_s, 1000);
}

TEST_F(VersusTest, TheBudgetEndsWithinARound) {
    request.what.variants = {"a", "b"};
    request.what.axes["n"] = {std::int64_t{2}, std::int64_t{3}};
    request.decision.budget_s = 1e-9;
    const VersusOutcome outcome = run();
    for (const RowRounds& rounds : outcome.row_rounds) EXPECT_EQ(rounds.complete, 1);
    EXPECT_EQ(outcome.rows.size(), outcome.row_rounds.size());
}

TEST_F(VersusTest, AProgramThatIsNoneOfOursFails) {
    request.old_program.executable = "/bin/true";
    const VersusOutcome outcome = run();
    ASSERT_EQ(outcome.rows.size(), 1U);
    EXPECT_EQ(outcome.rows[0].verdict, compare::RowVerdict::not_comparable)
        << outcome.rows[0].reason;
    EXPECT_EQ(outcome.rounds, request.decision.min_rounds) << "gives up without a single pair";
    EXPECT_THAT(store.samples(outcome.old_session).at(0).reason,
                HasSubstr("ended without saying how"));
}

TEST_F(VersusTest, AVerdictThatLookingAgainAndAgainDoesNotBearIsAmbiguous) {
    std::vector<compare::Series> series(1);
    series[0].name = {"e", "v", {}, "m"};
    compare::Row row;
    row.id = series[0].name;
    row.a = row.b = series.data();
    row.verdict = compare::RowVerdict::slower;
    row.reason_code = compare::Reason::beyond_margin;
    row.reason = "beyond-margin: 30 pairs";
    Contrast contrast;
    contrast.experiment = "e";
    contrast.variant = "v";
    contrast.metric = {"m", {}};
    contrast.better = Direction::lower;
    contrast.rounds = 30;
    auto rows = versus_rows({row}, {contrast});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].verdict, compare::RowVerdict::ambiguous);
    EXPECT_THAT(rows[0].reason, HasSubstr("beyond-margin: 30 pairs"));
    contrast.answer.standing = stopping::Standing::above;
    rows = versus_rows({row}, {contrast});
    EXPECT_EQ(rows[0].verdict, compare::RowVerdict::slower);
    contrast.metric = {"other", {}};
    EXPECT_TRUE(versus_rows({row}, {contrast}).empty());
}

/// A row as compare() makes it of nine pairs, and what the rounds say of them.
struct RowAndRounds {
    RowAndRounds() {
        side.name = {"e", "v", {}, "m"};
        row.id = side.name;
        row.a = row.b = &side;
        row.n_a = row.n_b = 9;
        row.verdict = compare::RowVerdict::slower;
        row.reason_code = compare::Reason::beyond_margin;
        row.ratio = 1.21;
        row.low = 1.2;
        row.high = 1.22;
        contrast.experiment = "e";
        contrast.variant = "v";
        contrast.metric = {"m", {}};
        contrast.better = Direction::lower;
        contrast.ratio = 1.2;
        contrast.answer = {stopping::Standing::above, 1.1, 1.3, 9};
    }
    compare::Series side;
    compare::Row row;
    Contrast contrast;
};

TEST(VersusRows, TellOneRatioThatOfTheRounds) {
    RowAndRounds of;
    const auto rows = versus_rows({of.row}, {of.contrast});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].ratio, 1.2);
    EXPECT_EQ(rows[0].low, 1.1);
    EXPECT_EQ(rows[0].high, 1.3);
}

TEST(VersusRows, TellASeriesOnce) {
    RowAndRounds of;
    // Samples that failed before they had read their data are of another series of the store.
    compare::Row failed = of.row;
    failed.id.metric = "";
    failed.n_a = failed.n_b = 0;
    failed.verdict = compare::RowVerdict::not_comparable;
    failed.reason_code = compare::Reason::only_in_b;
    failed.reason = "only-in-b";
    for (const auto& both : {std::vector<compare::Row>{failed, of.row}, {of.row, failed}}) {
        const auto rows = versus_rows(both, {of.contrast});
        ASSERT_EQ(rows.size(), 1U);
        EXPECT_EQ(rows[0].verdict, compare::RowVerdict::slower);
        EXPECT_THAT(rows[0].reason, HasSubstr("other samples of it stand apart: only-in-b"));
    }
}

TEST(ProgramIdentity, IsReadFromWhatVersionPrints) {
    const std::string text =
        "assay 0.1.0, commit 0123456789ab-dirty\nbuilt by GNU 12.2.0, Release, with libtorch "
        "2.6.0\nbuild id 00112233445566778899aabbccddeeff00112233\nwithout nvcc: no, really";
    const ProgramIdentity program = parse_version(text, "/x/assay");
    EXPECT_EQ(program.build, "00112233445566778899aabbccddeeff00112233");
    EXPECT_EQ(program.suspects.at("commit"), "0123456789ab-dirty");
    EXPECT_EQ(program.suspects.at("compiler"), "GNU 12.2.0");
    EXPECT_EQ(program.suspects.at("build_type"), "Release");
    EXPECT_EQ(program.suspects.at("torch"), "2.6.0");
    EXPECT_EQ(program.suspects.at("version"), "0.1.0");
    for (const char* other :
         {"", "assay 0.1.0\n", "true (GNU coreutils) 9.1\nbuild id 00112233445566778899",
          "assay 1\nbuild id not-hexadecimal-at-all"})
        EXPECT_THROW(parse_version(other, "/bin/other"), UserError) << other;
}

TEST(ProgramIdentity, AsksTheProgram) {
    const ProgramIdentity self = this_program();
    const ProgramIdentity asked = ask_program(self.executable);
    EXPECT_EQ(asked.build, self.build);
    EXPECT_EQ(asked.suspects.at("commit"), "0123456789ab");
    EXPECT_THROW(ask_program("/nonexistent/assay"), UserError);
    EXPECT_THROW(ask_program("/etc/passwd"), UserError);
    EXPECT_THROW(ask_program("/bin/true"), UserError);
}

}  // namespace
}  // namespace assay::runner
