// Adaptive rounds: they end when variants are told apart, save the rest, and go on after an
// interruption as if there had been none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "suite/runner/adaptive/adaptive_cases.hpp"
#include "suite/runner/runner.hpp"
#include "tests/runner/session_fixture.hpp"
#include "tests/runner/versus/busy_system.hpp"

namespace assay::runner {
namespace {

using ::testing::HasSubstr;

class AdaptiveTest : public assay::testing::SessionFixture {
  protected:
    Registry registry = assay::testing::make_busy_registry();
    Request request;

    AdaptiveTest() {
        request.patterns = {"dummy/sum"};
        request.axes["n"] = {std::int64_t{2}, std::int64_t{3}};
        request.until_decided.emplace();
        request.until_decided->metrics = {"total"};
        request.until_decided->max_rounds = 12;
    }
    Outcome run() { return SessionFixture::run(registry, request); }
    std::string refused() {
        try {
            make_plan(registry, request);
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    }
};

/// b is twice a and c three times: seven rounds decide, of twelve planned.
TEST_F(AdaptiveTest, RoundsEndWhenVariantsAreToldApart) {
    const Outcome outcome = run();
    EXPECT_EQ(outcome.samples.size(), 2U * 7 * 3);
    EXPECT_EQ(outcome.saved, 2 * 5 * 3);
    ASSERT_EQ(outcome.contrasts.size(), 4U);
    EXPECT_EQ(outcome.contrasts[0].variant, "b");
    EXPECT_EQ(outcome.contrasts[0].against, "a");
    EXPECT_EQ(outcome.contrasts[0].metric.name, "total");
    EXPECT_EQ(outcome.contrasts[0].ratio, 2);
    EXPECT_EQ(outcome.contrasts[0].verdict(), "faster") << "more is better";
    EXPECT_EQ(outcome.contrasts[3].ratio, 3);
    EXPECT_EQ(outcome.contrasts[3].rounds, 7);
    const Notice& last = notices.back();
    EXPECT_EQ(last.planned, 42);
    EXPECT_EQ(last.done, 42);
    EXPECT_EQ(last.saved, 30);
    EXPECT_EQ(last.eta_s, 0);
    int decided = 0;
    for (const Notice& notice : notices) decided += notice.kind == "decided";
    EXPECT_EQ(decided, 2);
    EXPECT_EQ(store.sessions().at(0).state, "finished");
}

TEST_F(AdaptiveTest, VariantsTurnRoundInEverySecondRound) {
    const Outcome outcome = run();
    EXPECT_EQ(outcome.samples[0].spec.variant, "a");
    EXPECT_EQ(outcome.samples[3].spec.variant, "c");
    EXPECT_EQ(outcome.samples[3].spec.round, 1);
}

TEST_F(AdaptiveTest, EveryLabelIsDecidedByItself) {
    request.until_decided->metrics = {};  // the figure's: term, by i
    request.axes["n"] = {std::int64_t{2}};
    const Outcome outcome = run();
    ASSERT_EQ(outcome.contrasts.size(), 4U);
    EXPECT_EQ(outcome.contrasts[1].metric, (store::MetricKey{"term", {{"i", std::int64_t{2}}}}));
    EXPECT_EQ(outcome.contrasts[1].verdict(), "higher") << "neither way is better";
}

TEST_F(AdaptiveTest, ComparesAgainstWhatIsAskedFor) {
    request.until_decided->against = "b";
    const Outcome outcome = run();
    EXPECT_EQ(outcome.contrasts[0].variant, "a");
    EXPECT_EQ(outcome.contrasts[0].ratio, 0.5);
    EXPECT_EQ(outcome.contrasts[0].verdict(), "slower");
}

TEST_F(AdaptiveTest, ASpentBudgetEndsTheRoundsAndSaysAmbiguous) {
    request.until_decided->budget_s = 1e-6;
    const Outcome outcome = run();
    EXPECT_EQ(outcome.samples.size(), 1U * 3) << "the first case spends it all, in one round";
    for (const Contrast& contrast : outcome.contrasts) EXPECT_EQ(contrast.verdict(), "ambiguous");
}

TEST_F(AdaptiveTest, AnInterruptedSessionGoesOnToTheSameDecision) {
    int finished = 0;
    on_notice = [&](const Notice& notice) {
        if (notice.kind == "sample_finished" && ++finished == 10) ::raise(SIGINT);
    };
    const Outcome first = run();
    EXPECT_TRUE(first.interrupted);
    on_notice = {};
    const Outcome second = run();
    EXPECT_TRUE(second.resumed);
    EXPECT_EQ(second.session, first.session);
    EXPECT_EQ(second.samples.size(), 42U);
    EXPECT_EQ(second.saved, 30);
    ASSERT_EQ(second.contrasts.size(), 4U);
    EXPECT_EQ(second.contrasts[1].answer.pairs, 7);
}

TEST_F(AdaptiveTest, WhatCannotBeDecidedIsRefusedBeforeAnythingRuns) {
    request.variants = {"a"};
    EXPECT_THAT(refused(), HasSubstr("versus"));
    request.variants = {};
    request.until_decided->against = "z";
    EXPECT_THAT(refused(), HasSubstr("--against z"));
    request.until_decided->against = "";
    request.until_decided->metrics = {"speed"};
    EXPECT_THAT(refused(), HasSubstr("has no metric 'speed'; it has: total, term"));
    request.until_decided->metrics = {};
    request.until_decided->margin = 0;
    EXPECT_THAT(refused(), HasSubstr("--margin"));
    request.until_decided->margin = 0.01;
    request.rounds = 3;
    EXPECT_THAT(refused(), HasSubstr("--rounds"));
}

/// Of processor time, which a busy machine disturbs less than that of the wall.
TEST_F(AdaptiveTest, RealWorkIsToldApart) {
    request.patterns = {"busy/spin"};
    request.axes.clear();
    request.variants = {"same", "slowed"};
    request.until_decided->metrics = {};
    request.until_decided->margin = 0.05;
    request.until_decided->max_rounds = 20;
    const Outcome outcome = run();
    ASSERT_EQ(outcome.contrasts.size(), 1U);
    EXPECT_EQ(outcome.contrasts[0].verdict(), "slower") << outcome.contrasts[0].ratio;
    EXPECT_GT(outcome.saved, 0);
}

}  // namespace
}  // namespace assay::runner
