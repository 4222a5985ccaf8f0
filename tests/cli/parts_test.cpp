// Parts of the command line that need no process.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <future>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"
#include "suite/base/file_descriptor.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/run/policy_replay.hpp"
#include "suite/cli/run/replay.hpp"
#include "suite/cli/run/session.hpp"
#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/report/text/claims_summary.hpp"
#include "suite/store/schema/migration.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/cli/program.hpp"
#include "tests/runner/dummy_system.hpp"

namespace assay::cli {
namespace {

store::Sample sample_with(SampleStatus status, double total, double seen) {
    store::Sample sample;
    sample.status = to_string(status);
    sample.metrics = {{"total", {}, total}, {"seed_seen", {}, seen}};
    return sample;
}

TEST(ReplayComparison, OnlyDeterministicMetricsDecide) {
    const Registry registry = assay::testing::make_dummy_registry();
    const Experiment& experiment = *registry.experiment("dummy/sum");
    const store::Sample stored = sample_with(SampleStatus::ok, 1, 2);
    EXPECT_TRUE(compare_replay(experiment, stored, sample_with(SampleStatus::ok, 1, 3)).agrees());
    const ReplayComparison last_bit =
        compare_replay(experiment, stored, sample_with(SampleStatus::ok, 1 + 1e-16 * 3, 2));
    EXPECT_EQ(last_bit.disagreeing(), 1);
    EXPECT_FALSE(
        compare_replay(experiment, stored, sample_with(SampleStatus::failed, 1, 2)).agrees());
    store::Sample lacking = stored;
    lacking.metrics.erase(lacking.metrics.begin());
    EXPECT_FALSE(compare_replay(experiment, stored, lacking).agrees())
        << "a metric that is missing";
}

TEST(ReplayComparison, AMetricMayVaryInSamplesOfOneKind) {
    Experiment experiment = *assay::testing::make_dummy_registry().experiment("dummy/sum");
    for (MetricSpec& metric : experiment.metrics) metric.varies = {Provenance::measured};
    store::Sample stored = sample_with(SampleStatus::ok, 1, 2);
    EXPECT_FALSE(compare_replay(experiment, stored, sample_with(SampleStatus::ok, 7, 2)).agrees());
    store::Sample replayed = sample_with(SampleStatus::ok, 7, 2);
    stored.spec.provenance = replayed.spec.provenance = Provenance::measured;
    EXPECT_EQ(compare_replay(experiment, stored, replayed).disagreeing(), 0);
}

store::Sample with_recordings(const std::vector<std::pair<std::string, std::string>>& texts) {
    store::Sample sample;
    sample.id = "3f2a";
    sample.spec.experiment = "dummy/behave";
    sample.artifacts = {{"log", "text/plain", "unreadably"}};
    for (const auto& [name, text] : texts)
        sample.artifacts.push_back({name, std::string(recorded_decisions), text});
    return sample;
}

TEST(PolicyReplay, EveryRecordingOfASampleIsReplayed) {
    const Registry registry = assay::testing::make_dummy_registry();
    const auto one = replay_policy(registry, with_recordings({{"a.jsonl", "same"}}));
    EXPECT_EQ(verdict(one), exit_ok);
    EXPECT_EQ(to_text(one), "3 decisions, all the same\n");
    const auto two =
        replay_policy(registry, with_recordings({{"a.jsonl", "same"}, {"b.jsonl", "otherwise"}}));
    EXPECT_EQ(verdict(two), exit_regression);
    EXPECT_EQ(to_text(two),
              "a.jsonl: 3 decisions, all the same\n"
              "b.jsonl: of 3 decisions, the first that comes out otherwise is\n"
              "decision 2, at 2.5 s, on died {\"worker\":3}:\n"
              "  action 1 was  go {\"step\":4}\n"
              "  action 1 is   go {\"step\":5}\n"
              "  step is 5, was 4\n");
    const nlohmann::json object = to_json(two, "3f2a");
    EXPECT_EQ(object["agrees"], false);
    EXPECT_TRUE(object["recordings"][0]["difference"].is_null());
    EXPECT_EQ(object["recordings"][1]["decisions"], 3);
    const nlohmann::json& difference = object["recordings"][1]["difference"];
    EXPECT_EQ(difference["decision"], 2);
    EXPECT_EQ(difference["event"]["worker"], 3);
    EXPECT_EQ(difference["recorded"][0]["step"], 4);
    EXPECT_EQ(difference["now"][0]["step"], 5);
    EXPECT_TRUE(difference["throws"].is_null());
}

TEST(PolicyReplay, NothingDecidedSaysNothing) {
    const Registry registry = assay::testing::make_dummy_registry();
    const auto none = replay_policy(registry, with_recordings({{"a.jsonl", "nothing"}}));
    EXPECT_EQ(verdict(none), exit_ambiguous);
    EXPECT_EQ(to_text(none), "nothing was decided\n");
}

TEST(PolicyReplay, WithoutRecordingOrPolicyIsASentence) {
    Registry registry;
    System mute = assay::testing::make_dummy_system();
    mute.replay_policy = {};
    registry.add(std::move(mute));
    const auto error_of = [](const Registry& systems, const store::Sample& sample) {
        try {
            replay_policy(systems, sample);
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    store::Sample sample = with_recordings({{"a.jsonl", "same"}});
    EXPECT_EQ(error_of(registry, sample),
              "dummy has no policy that could be replayed; without --policy the whole sample is");
    const Registry speaking = assay::testing::make_dummy_registry();
    EXPECT_THAT(error_of(speaking, with_recordings({})),
                ::testing::HasSubstr("no decisions are recorded in sample 3f2a"));
    sample.spec.experiment = "plato/fig5";
    EXPECT_THAT(error_of(speaking, sample), ::testing::HasSubstr("this build does not have"));
}

/// Its claim is dummy/sum/thrice.
runner::Outcome outcome_of(std::initializer_list<SampleStatus> statuses, ClaimVerdict verdict) {
    runner::Outcome outcome;
    for (const SampleStatus status : statuses) outcome.samples.push_back(sample_with(status, 1, 1));
    ClaimCheck check;
    check.claim = "dummy/sum/thrice";
    check.verdict = verdict;
    check.obtained = 2;
    outcome.claims = {check};
    return outcome;
}

TEST(SessionExitCode, FailuresFirstThenVerdictsOnlyWithGate) {
    using S = SampleStatus;
    const Registry registry = assay::testing::make_dummy_registry();
    const auto code = [&](const runner::Outcome& outcome, bool gate) {
        return static_cast<int>(session_exit_code(registry, outcome, gate));
    };
    EXPECT_EQ(code(outcome_of({S::ok}, ClaimVerdict::contradicted), false), 0);
    EXPECT_EQ(code(outcome_of({S::ok}, ClaimVerdict::contradicted), true), 2);
    EXPECT_EQ(code(outcome_of({S::ok}, ClaimVerdict::undecided), true), 0);
    EXPECT_EQ(code(outcome_of({S::ok, S::failed}, ClaimVerdict::contradicted), true), 1);
    EXPECT_EQ(code(outcome_of({S::unsupported, S::unsupported}, ClaimVerdict::not_run), false), 4);
    EXPECT_EQ(code(outcome_of({S::ok, S::unsupported}, ClaimVerdict::not_run), false), 0);
    EXPECT_EQ(code(outcome_of({S::ok, S::invalid}, ClaimVerdict::supported), false), 0);
    EXPECT_EQ(code(outcome_of({S::ok, S::invalid}, ClaimVerdict::supported), true), 3);
    runner::Outcome interrupted = outcome_of({S::ok}, ClaimVerdict::supported);
    interrupted.interrupted = true;
    EXPECT_EQ(code(interrupted, false), 1);
}

TEST(SessionExitCode, AGateFailsWhereAnExplanationIsMissingOrOfAnotherValue) {
    const auto code = [](std::optional<Explanation> explained, ClaimKind kind) {
        System system = assay::testing::make_dummy_system();
        for (Claim& claim : system.claims) {
            claim.explained = explained;
            claim.kind = kind;
        }
        Registry registry;
        registry.add(std::move(system));
        const auto outcome = outcome_of({SampleStatus::ok}, ClaimVerdict::contradicted);
        return static_cast<int>(session_exit_code(registry, outcome, true));
    };
    for (const ClaimKind kind : {ClaimKind::claim, ClaimKind::ours, ClaimKind::arithmetic}) {
        EXPECT_EQ(code(Explanation{"b is a twice", 2.05, 0.1}, kind), 0);
        EXPECT_EQ(code(Explanation{"b is a twice", 2.2, 0.1}, kind), 2);
        EXPECT_EQ(code(std::nullopt, kind), 2);
    }
}

/// As if the disk were full after so many bytes.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &old_);
        const rlimit limit{bytes, old_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, old_handler_);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

  private:
    void (*old_handler_)(int);
    rlimit old_{};
};

TEST(OutputFile, AppearsWholeOrNotAtAll) {
    const assay::testing::TemporaryFolder folder;
    std::filesystem::create_directory(folder / "a");
    write_output(folder / "a/file", "old");
    write_output(folder / "a/file", "content");
    EXPECT_EQ(assay::testing::contents(folder / "a/file"), "content");
    {
        const FileSizeLimit limit(100);
        EXPECT_THROW(write_output(folder / "a/file", std::string(1000, 'x')), UserError);
    }
    EXPECT_EQ(assay::testing::contents(folder / "a/file"), "content") << "the disk was full";
    const auto here = std::filesystem::directory_iterator(folder / "a");
    EXPECT_EQ(std::distance(begin(here), end(here)), 1) << "half a file was left";
    EXPECT_THROW(write_output(folder / "a", "over a folder"), UserError);
    EXPECT_TRUE(std::filesystem::is_directory(folder / "a"));
    EXPECT_NO_THROW(write_output("/dev/null", "nothing"));
    EXPECT_NO_THROW(check_output("-o", "/dev/null"));
    EXPECT_NO_THROW(check_output("-o", folder / "file"));
    EXPECT_THROW(check_output("-o", folder / "a"), UserError);
    EXPECT_THROW(check_output("-o", "/proc/nothing/file"), UserError);
}

TEST(OutputFile, ItsFolderMustBeThere) {
    const assay::testing::TemporaryFolder folder;
    const auto complaint = [&](auto write) {
        try {
            write(folder / "new folder/file");
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string("none");
    };
    const std::string missing = (folder / "new folder").string();
    const auto says = ::testing::HasSubstr(
        "the folder " + missing + " does not exist; `mkdir -p '" + missing + "'` makes it");
    EXPECT_THAT(complaint([](const auto& file) { check_output("-o", file); }), says);
    EXPECT_THAT(complaint([](const auto& file) { write_output(file, "content"); }), says);
    EXPECT_FALSE(std::filesystem::exists(missing));
}

TEST(OutputFile, LinksOpenFilesAndPipesStayWhatTheyAre) {
    const assay::testing::TemporaryFolder folder;
    write_output(folder / "file", "old");
    std::filesystem::create_symlink("file", folder / "link");
    write_output(folder / "link", "new");
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
    EXPECT_EQ(assay::testing::contents(folder / "file"), "new");

    const FileDescriptor open_file(
        ::open((folder / "file").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    const std::string name = fmt::format("/dev/fd/{}", open_file.get());
    EXPECT_NO_THROW(check_output("-o", name));
    write_output(name, " and more");
    EXPECT_EQ(assay::testing::contents(folder / "file"), "new and more");

    const std::string pipe = (folder / "pipe").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_NO_THROW(check_output("-o", pipe));
    auto read = std::async(std::launch::async, [&] { return assay::testing::contents(pipe); });
    write_output(pipe, "through the pipe");
    EXPECT_EQ(read.get(), "through the pipe");
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(StandardOutput, IsForOneOnly) {
    for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
        EXPECT_TRUE(is_standard_output(name)) << name;
        EXPECT_EQ(ending_of(name), "");
    }
    EXPECT_FALSE(is_standard_output("/dev/stderr"));
    EXPECT_NO_THROW(expect_one_on_standard_output({{"--a", false}, {"--b", true}, {"--c", false}}));
    EXPECT_THROW(expect_one_on_standard_output({{"--a", true}, {"--b", false}, {"--c", true}}),
                 UserError);
}

TEST(OutputFile, NamesSayWhatIsInThem) {
    const assay::testing::TemporaryFolder folder;
    EXPECT_EQ(ending_of("a/b.SVG"), ".svg");
    for (const char* none : {"-", "/dev/null", "results", "night-2026.11", ".hidden", "a.b/c"})
        EXPECT_EQ(ending_of(none), "") << none;
    EXPECT_NO_THROW(expect_ending("-o", "x.html", {".html", ".svg"}));
    EXPECT_NO_THROW(expect_ending("-o", "-", {".html"}));
    const auto complaint = [](const char* name) {
        try {
            expect_ending("-o", name, {".html", ".svg"});
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(
        complaint("a.png"),
        ::testing::AllOf(::testing::HasSubstr("-o a.png: this is written as one of .html, .svg"),
                         ::testing::HasSubstr("rsvg-convert -f png a.svg -o a.png")));
    EXPECT_EQ(complaint("a.txt"), "-o a.txt: this is written as one of .html, .svg, not as .txt");
}

class ReadingDatabase : public ::testing::Test {
  protected:
    assay::testing::TemporaryFolder folder;
    Registry registry;
    Context context{registry, "", folder / "r.db", {}};
};

TEST_F(ReadingDatabase, WhatAddsBringsAnOlderFileUpToDate) {
    {
        store::Store::open(folder / "newest.db", store::Access::write);
        SQLite::Database newest((folder / "newest.db").string());
        SQLite::Database sql(context.database.string(),
                             SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        sql.exec("PRAGMA application_id = " +
                 newest.execAndGet("PRAGMA application_id").getString());
        store::migrate(context.database, sql, std::span(store::migrations()).first(1));
    }
    EXPECT_THROW(open_existing(context), store::StoreError) << "readers change nothing";
    EXPECT_TRUE(open_existing_to_write(context).sessions().empty());
    EXPECT_TRUE(open_existing(context).sessions().empty());
}

/// `a` and `b` of dummy/sum, b twice a, in a session of one machine.
void add_sums(store::Store& store) {
    store.put_machine({"aaaaaaaaaaaaaaaa", {}});
    store::Session session;
    session.id = "10000000-0000-4000-8000-000000000000";
    session.machine = "aaaaaaaaaaaaaaaa";
    session.suspects = nlohmann::json::object();
    session.started = "2026-01-01T00:00:00.000Z";
    store.begin_session(session);
    for (const auto& [variant, total] : {std::pair{"a", 6.0}, std::pair{"b", 12.0}}) {
        SampleSpec spec;
        spec.experiment = "dummy/sum";
        spec.variant = variant;
        spec.axes = {{"kind", std::string("plain")}, {"n", std::int64_t{3}}};
        store::Sample sample;
        sample.id = store.begin_sample(
            session.id, spec,
            {spec.experiment, spec.variant, spec.axes, spec.profile, spec.provenance});
        sample.status = "ok";
        sample.metrics = {{"total", {}, total}};
        store.finish_sample(sample);
    }
    store.finish_session(session.id, "finished");
}

TEST_F(ReadingDatabase, VerdictsOfOlderRulesAreReachedAnew) {
    registry = assay::testing::make_dummy_registry();
    store::Store store = store::Store::open(context.database, store::Access::write);
    add_sums(store);
    const std::vector<const Claim*> claims{registry.claim("dummy/sum/twice"),
                                           registry.claim("dummy/sum/thrice")};
    using enum ClaimVerdict;
    const auto shown = [&] {
        std::vector<ClaimVerdict> verdicts;
        for (const ClaimCheck& check : report::newest_checks(registry, &store, claims))
            verdicts.push_back(check.verdict);
        return verdicts;
    };
    EXPECT_EQ(shown(), (std::vector{not_run, not_run})) << "nothing was judged yet";
    store.put_claim_checks("", {{"dummy/sum/thrice", supported, "as stored", {}, 3.0}});
    EXPECT_EQ(shown(), (std::vector{not_run, supported}));
    SQLite::Database(context.database.string(), SQLite::OPEN_READWRITE)
        .exec("UPDATE claim_check SET verdict = 'open discrepancy', rules = 0");
    EXPECT_EQ(shown(), (std::vector{supported, contradicted}))
        << "also what had another name under the older rules";
    store.put_claim_checks("", {{"dummy/sum/thrice", supported, "as stored", {}, 3.0}});
    EXPECT_EQ(shown(), (std::vector{not_run, supported})) << "the newest counts";
}

TEST_F(ReadingDatabase, WhatAddsMakesNone) {
    EXPECT_THROW(open_existing_to_write(context), UserError);
    EXPECT_FALSE(std::filesystem::exists(context.database));
}

}  // namespace
}  // namespace assay::cli
