// The session around the samples: stored, resumed, interrupted, judged.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "suite/runner/machine_lock.hpp"
#include "suite/runner/runner.hpp"
#include "suite/runner/sample/sample_folders.hpp"
#include "suite/store/ids.hpp"
#include "tests/base/processes.hpp"
#include "tests/runner/dummy_system.hpp"
#include "tests/runner/session_fixture.hpp"

namespace assay::runner {
namespace {

using assay::testing::EnvironmentVariable;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class ExecuteTest : public assay::testing::SessionFixture {
  protected:
    Registry registry = assay::testing::make_dummy_registry();
    Request request;

    Outcome run() { return SessionFixture::run(registry, request); }
    void behave(std::initializer_list<const char*> ways) {
        request.patterns = {"dummy/behave"};
        request.axes["how"].clear();
        for (const char* way : ways) request.axes["how"].emplace_back(std::string(way));
    }
    std::vector<std::string> statuses(const Outcome& outcome) const {
        std::vector<std::string> result;
        for (const store::Sample& sample : outcome.samples) result.push_back(sample.status);
        return result;
    }
    std::vector<std::string> kinds() const {
        std::vector<std::string> result;
        for (const Notice& notice : notices) result.push_back(notice.kind);
        return result;
    }
};

TEST_F(ExecuteTest, SamplesAreStoredAndClaimsJudged) {
    request.patterns = {"dummy/sum"};
    request.command = "assay run dummy/sum";
    const Outcome outcome = run();
    ASSERT_EQ(outcome.samples.size(), 6U);
    EXPECT_EQ(outcome.samples[4].spec.variant, "b");
    EXPECT_EQ(outcome.samples[4].status, "ok") << outcome.samples[4].reason;
    ASSERT_EQ(outcome.claims.size(), 2U);
    EXPECT_EQ(outcome.claims[0].verdict, ClaimVerdict::supported) << outcome.claims[0].reason;
    EXPECT_EQ(outcome.claims[1].verdict, ClaimVerdict::contradicted) << outcome.claims[1].reason;
    EXPECT_EQ(outcome.claims[0].obtained, 2.0);

    const auto sessions = store.sessions();
    ASSERT_EQ(sessions.size(), 1U);
    EXPECT_EQ(sessions[0].state, "finished");
    EXPECT_EQ(sessions[0].command, "assay run dummy/sum");
    EXPECT_EQ(store.newest_claim_checks().size(), 2U);
    const store::Sample stored = store.sample(outcome.samples[4].id);
    EXPECT_EQ(stored.metrics.size(), 5U);
    ASSERT_EQ(stored.events.size(), 1U);
    EXPECT_EQ(stored.events[0].detail.at("step"), 3);
}

TEST_F(ExecuteTest, ListenerHearsEverythingInOrder) {
    request.patterns = {"dummy/sum"};
    request.axes["n"] = {std::int64_t{2}};
    run();
    EXPECT_THAT(kinds(), ElementsAre("session", "sample_started", "event", "sample_finished",
                                     "sample_started", "event", "sample_finished", "sample_started",
                                     "event", "sample_finished", "claim", "claim", "finished"));
    EXPECT_EQ(notices[3].done, 1);
    EXPECT_EQ(notices[3].planned, 3);
    EXPECT_GT(notices[3].eta_s, 0);
    EXPECT_EQ(notices.back().eta_s, 0);
    EXPECT_EQ(notices[3].body.at("metrics").at("term{i=2}"), 2);
}

TEST_F(ExecuteTest, SimulatedSamplesRunSideBySide) {
    behave({"meets"});  // each waits for another of its session
    request.profile = Profile::small;
    request.rounds = 4;
    request.jobs = 2;
    const Outcome outcome = run();
    EXPECT_THAT(statuses(outcome), ElementsAre("ok", "ok", "ok", "ok"));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(outcome.samples[i].spec.seed, i + 1);
    EXPECT_EQ(notices.back().eta_s, 0);
    EXPECT_EQ(notices.back().done, 4);
}

TEST_F(ExecuteTest, SoDoMeasuredOnesThatMeasureNoTimes) {
    behave({"meets"});
    request.profile = Profile::paper;
    request.rounds = 2;
    request.jobs = 2;
    const Outcome outcome = run();
    EXPECT_THAT(statuses(outcome), ElementsAre("ok", "ok"));
    for (const store::Sample& sample : outcome.samples)
        EXPECT_TRUE(store.sample(sample.id).hardware.empty())
            << "says nothing of one beside others";
}

TEST_F(ExecuteTest, SideBySideOrNotResultsAreTheSame) {
    request.patterns = {"dummy/sum"};
    request.profile = Profile::small;
    request.provenance = Provenance::simulated;
    request.fresh = true;
    const auto metrics = [&](int jobs) {
        request.jobs = jobs;
        std::vector<std::pair<std::string, double>> all;
        for (const store::Sample& sample : run().samples)
            for (const auto& metric : store.sample(sample.id).metrics)
                all.emplace_back(metric.name, metric.value);
        return all;
    };
    const auto alone = metrics(1);
    EXPECT_GT(alone.size(), 50U);
    EXPECT_EQ(metrics(3), alone);
}

TEST_F(ExecuteTest, AnInterruptionEndsAllThatRunSideBySide) {
    behave({"hang"});
    request.profile = Profile::small;
    request.rounds = 4;
    request.jobs = 2;
    on_notice = [started = 0](const Notice& notice) mutable {
        if (notice.kind == "sample_started" && ++started == 2) ::raise(SIGTERM);
    };
    const Outcome outcome = run();
    EXPECT_TRUE(outcome.interrupted);
    EXPECT_THAT(statuses(outcome), ElementsAre("interrupted", "interrupted"));
    EXPECT_EQ(store.sessions().at(0).state, "interrupted");
}

TEST_F(ExecuteTest, StartedSamplesTellTheirFaultPlan) {
    behave({"well"});
    run();
    EXPECT_EQ(notices.at(1).kind, "sample_started");
    EXPECT_EQ(notices.at(1).body.at("scenario"), "kill:rank=1@step=5");
    request.scenario_given = true;
    run();
    EXPECT_EQ(notices.at(1).body.at("scenario"), "");
}

TEST_F(ExecuteTest, VerdictsSayWhenTheyRestOnAnotherSession) {
    System system = assay::testing::make_dummy_system();
    Claim across = system.claims.front();
    across.id = "dummy/sum/across";
    across.over = Selector{"a", {{"n", std::int64_t{2}}}};
    across.value = 4;
    system.claims.push_back(across);
    registry = Registry();
    registry.add(std::move(system));
    request.patterns = {"dummy/sum"};
    const auto reasons = [&] {
        std::vector<std::string> result;
        for (const ClaimCheck& check : run().claims) {
            EXPECT_EQ(check.obtained, check.claim == across.id ? 4.0 : 2.0) << check.reason;
            result.push_back(check.reason);
        }
        return result;
    };
    for (const std::string& reason : reasons())
        EXPECT_THAT(reason, Not(HasSubstr("session"))) << "all of it was run";
    request.axes["n"] = {std::int64_t{2}};
    EXPECT_THAT(reasons(), ElementsAre(EndsWith(" (from an earlier session)"),
                                       EndsWith(" (from an earlier session)"),
                                       EndsWith(" (in part from an earlier session)")));
    EXPECT_THAT(store.newest_claim_checks().front().check.reason, HasSubstr("earlier session"));
    request.axes["n"] = {std::int64_t{3}};
    EXPECT_THAT(reasons(), ElementsAre(Not(HasSubstr("session")), Not(HasSubstr("session")),
                                       EndsWith(" (in part from an earlier session)")));
}

TEST_F(ExecuteTest, FailuresAreCountedAndTheRestGoesOn) {
    behave({"throw", "well", "crash", "unsupported"});
    const Outcome outcome = run();
    EXPECT_THAT(statuses(outcome), ElementsAre("failed", "ok", "failed", "unsupported"));
    EXPECT_EQ(notices.back().failed, 2);
    EXPECT_EQ(notices.back().done, 4);
    EXPECT_EQ(store.sessions()[0].state, "finished");
}

TEST_F(ExecuteTest, AMetricRecordedTwiceIsOneFailedSample) {
    behave({"twice", "well"});
    const Outcome outcome = run();
    ASSERT_THAT(statuses(outcome), ElementsAre("failed", "ok"));
    const store::Sample failed = store.sample(outcome.samples[0].id);
    EXPECT_EQ(failed.reason, "recorded the metric value twice; a label must tell the values apart");
    ASSERT_EQ(failed.metrics.size(), 1U) << "what can be stored is";
    EXPECT_EQ(failed.metrics[0].value, 1);
    EXPECT_EQ(failed.events.size(), 1U);
    EXPECT_EQ(store.sessions()[0].state, "finished");
}

TEST_F(ExecuteTest, CheckpointsOfAnotherBuildStayUntilTheyAreOld) {
    store::Session other;
    other.id = "11111111-0000-4000-8000-000000000000";
    other.build = "another build";
    other.state = "running";
    other.started = store::now_utc();
    store.put_machine({"here", {}});
    other.machine = "here";
    store.begin_session(other);
    store.finish_session(other.id, "interrupted");
    const auto kept = folder / "results.db.state" / other.id / "shared";
    std::filesystem::create_directories(kept);
    std::ofstream(kept / "model") << "0123456789";
    const auto told = [&] {
        std::vector<nlohmann::json> removed;
        for (const Notice& notice : notices)
            if (notice.kind == "state_removed") removed.push_back(notice.body);
        return removed;
    };
    behave({"well"});
    run();
    EXPECT_TRUE(std::filesystem::exists(kept / "model"));
    EXPECT_TRUE(told().empty());

    const auto interrupted = [&](int days_ago) {
        const std::string then =
            store::utc(std::chrono::system_clock::now() - std::chrono::days(days_ago));
        SQLite::Database file((folder / "results.db").string(), SQLite::OPEN_READWRITE);
        file.exec("UPDATE session SET started = '" + then + "', finished = '" + then +
                  "' WHERE id = '" + other.id + "'");
    };
    interrupted(StateFolder::kept_days - 1);
    run();
    EXPECT_TRUE(std::filesystem::exists(kept / "model"));
    interrupted(StateFolder::kept_days + 1);
    run();
    EXPECT_FALSE(std::filesystem::exists(kept));
    ASSERT_EQ(told().size(), 1U) << "said, not only done";
    EXPECT_EQ(told()[0].at("session"), other.id);
    EXPECT_EQ(told()[0].at("bytes"), 10);
    EXPECT_EQ(told()[0].at("why"), "it was interrupted more than 30 days ago");
}

TEST_F(ExecuteTest, ASampleFindsWhatItKeptBeforeItWasInterrupted) {
    const auto states = folder / "results.db.state";
    behave({"resumable"});
    on_notice = [](const Notice& notice) {
        if (notice.kind == "event" && notice.body["event"] == "commit") ::raise(SIGTERM);
    };
    const Outcome first = run();
    EXPECT_THAT(statuses(first), ElementsAre("interrupted"));
    EXPECT_TRUE(std::filesystem::exists(states / first.session / "shared" / "model"));
    const auto unknown = states / "0000-of-no-session" / "shared";
    std::filesystem::create_directories(unknown);
    on_notice = {};

    const Outcome second = run();
    ASSERT_THAT(statuses(second), ElementsAre("ok"));
    ASSERT_EQ(second.samples[0].events.size(), 1);
    EXPECT_EQ(second.samples[0].events[0].kind, "resumed") << "it went on from what it had kept";
    EXPECT_FALSE(std::filesystem::exists(states))
        << "nothing is left of it, nor of sessions that nobody knows";
    EXPECT_TRUE(second.samples[0].spec.state.empty()) << "a replay keeps nothing";
}

TEST_F(ExecuteTest, InterruptedSessionIsResumedWithoutRepeatingWhatIsDone) {
    behave({"well", "slow", "rich"});
    on_notice = [](const Notice& notice) {
        if (notice.kind == "event") ::raise(SIGTERM);  // in the middle of the second sample
    };
    const Outcome first = run();
    EXPECT_TRUE(first.interrupted);
    EXPECT_THAT(statuses(first), ElementsAre("ok", "interrupted"));
    EXPECT_EQ(store.sessions()[0].state, "interrupted");
    on_notice = {};

    request.timeout_s = 99;  // does not make it another plan
    const Outcome second = run();
    EXPECT_TRUE(second.resumed);
    EXPECT_EQ(second.session, first.session);
    EXPECT_THAT(statuses(second), ElementsAre("ok", "ok", "ok"));
    EXPECT_EQ(second.samples[0].id, first.samples[0].id) << "not run again";
    EXPECT_EQ(store.sessions()[0].state, "finished");
    EXPECT_EQ(notices.back().done, 3);

    const Outcome third = run();
    EXPECT_FALSE(third.resumed) << "a finished session is not gone on with";
    EXPECT_NE(third.session, first.session);
}

TEST_F(ExecuteTest, FreshAndOtherPlansStartNewSessions) {
    behave({"slow"});
    on_notice = [](const Notice& notice) {
        if (notice.kind == "event") ::raise(SIGINT);
    };
    const Outcome first = run();
    on_notice = {};
    request.seed = 5;
    EXPECT_NE(run().session, first.session);
    request.seed = 1;
    request.fresh = true;
    EXPECT_NE(run().session, first.session);
}

TEST_F(ExecuteTest, MeasuredRunsTakeTheMachineAndExactOnesDoNot) {
    const MachineLock other(folder / "lock", "somebody else");
    behave({"well"});
    try {
        run();
        FAIL() << "ran beside another";
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("somebody else"));
    }
    EXPECT_TRUE(store.sessions().empty()) << "refused before anything is written";
    request.lock = false;
    EXPECT_THAT(statuses(run()), ElementsAre("ok"));
    request.lock = true;
    request.axes.clear();
    request.patterns = {"dummy/sum"};
    EXPECT_EQ(run().samples.size(), 6U);
}

TEST_F(ExecuteTest, AListenerThatThrowsLeavesAResumableSession) {
    behave({"well", "slow"});
    on_notice = [](const Notice& notice) {
        if (notice.kind == "event") throw std::runtime_error("disk full");
    };
    EXPECT_THROW(run(), std::runtime_error);
    on_notice = {};
    const Outcome outcome = run();
    EXPECT_TRUE(outcome.resumed);
    EXPECT_THAT(statuses(outcome), ElementsAre("ok", "ok"));
}

TEST_F(ExecuteTest, ScratchFoldersAreGoneAfterwards) {
    EnvironmentVariable tmp("TMPDIR", folder.path().string());
    std::filesystem::create_directory(folder / "assay-sample-999999999-abcdef");
    behave({"rich", "crash"});
    run();
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        EXPECT_NE(entry.path().filename().string().rfind("assay-sample-", 0), 0U)
            << entry.path() << " (also those of dead runners)";
}

TEST_F(ExecuteTest, RunOnceTellsAndStoresNothing) {
    SampleSpec spec;
    spec.experiment = "dummy/sum";
    spec.variant = "b";
    spec.axes = {{"n", std::int64_t{3}}, {"kind", std::string("plain")}};
    int events = 0;
    const store::Sample sample =
        run_once(spec, [&](const Notice& notice) { events += notice.kind == "event"; });
    EXPECT_EQ(sample.status, "ok") << sample.reason;
    EXPECT_EQ(sample.metrics.size(), 5U);
    EXPECT_EQ(events, 1);
    EXPECT_TRUE(store.sessions().empty());
}

}  // namespace
}  // namespace assay::runner
