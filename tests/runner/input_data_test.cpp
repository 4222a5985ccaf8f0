// Files that samples read: their content is part of the series and of the plan.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <set>
#include <utility>

#include "suite/base/sha256.hpp"
#include "suite/runner/input_hash.hpp"
#include "suite/runner/plan.hpp"
#include "tests/runner/dummy_system.hpp"
#include "tests/runner/session_fixture.hpp"

namespace assay::runner {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InputDataTest : public assay::testing::SessionFixture {
  protected:
    const std::filesystem::path numbers = folder / "numbers.txt";
    assay::testing::EnvironmentVariable input{"ASSAY_TEST_INPUT", numbers.string()};
    Registry registry = assay::testing::make_dummy_registry();
    Request request;

    InputDataTest() {
        request.patterns = {"dummy/sum"};
        write("1 2 3");
    }
    void write(const std::string& text) const { std::ofstream(numbers) << text; }
    Outcome run() { return SessionFixture::run(registry, request); }
    std::string plan() const { return make_plan(registry, request).hash; }
    /// Of a sample of dummy/sum.
    static std::string data(const Experiment& experiment) {
        return data_hash(InputHash().of(experiment, {}));
    }
    /// `change` is made once, with the first notice of this kind.
    std::vector<std::string> statuses_when(const std::string& kind, std::function<void()> change) {
        on_notice = [&, is_made = false](const Notice& notice) mutable {
            if (notice.kind == kind && !std::exchange(is_made, true)) change();
        };
        std::vector<std::string> statuses;
        for (const store::Sample& sample : run().samples) statuses.push_back(sample.status);
        on_notice = {};
        return statuses;
    }
    std::set<std::string> data_of(const Outcome& outcome) const {
        std::set<std::string> data;
        for (const store::Sample& sample : outcome.samples)
            data.insert(store.series(sample.series).data);
        return data;
    }
};

TEST_F(InputDataTest, OtherContentUnderTheSameNameIsAnotherSeries) {
    const Outcome first = run();
    const std::string hash = sha256_hex("numbers " + sha256_hex("1 2 3") + "\n");
    EXPECT_EQ(data_of(first), std::set<std::string>{hash});
    EXPECT_EQ(run().samples[0].series, first.samples[0].series);
    write("1 2 4");
    const Outcome other = run();
    EXPECT_NE(other.samples[0].series, first.samples[0].series);
    EXPECT_NE(data_of(other), data_of(first));
    write("1 2 3");
    EXPECT_EQ(run().samples[0].series, first.samples[0].series);
}

TEST_F(InputDataTest, ASessionIsNotResumedOnOtherContent) {
    const auto interrupted = [&] {
        on_notice = [](const Notice& notice) {
            if (notice.kind == "event") ::raise(SIGINT);
        };
        const Outcome outcome = run();
        on_notice = {};
        EXPECT_TRUE(outcome.interrupted);
        return outcome.session;
    };
    const std::string first = interrupted(), before = plan();
    write("1 2 4");
    EXPECT_NE(plan(), before);
    EXPECT_NE(run().session, first);
    write("1 2 3");
    EXPECT_EQ(plan(), before);
    const Outcome resumed = run();
    EXPECT_EQ(resumed.session, first);
    EXPECT_TRUE(resumed.resumed);
}

TEST_F(InputDataTest, AFileThatIsNotThereCountsForNothing) {
    std::filesystem::remove(numbers);
    EXPECT_EQ(data_of(run()), std::set<std::string>{""});
}

TEST_F(InputDataTest, ContentThatIsKnownAndWasChangedIsRefused) {
    Experiment experiment = *registry.experiment("dummy/sum");
    std::string known = sha256_hex("1 2 3");
    experiment.inputs = [&](const SampleSpec&) {
        return std::vector<Input>{{"numbers", numbers, known}};
    };
    SampleSpec spec;
    spec.experiment = "dummy/sum";
    EXPECT_FALSE(data_hash(InputHash().of(experiment, spec)).empty());
    write("1 2 4");
    try {
        InputHash().of(experiment, spec);
        FAIL() << "taken";
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr(numbers.string() + ", the numbers of dummy/sum, was"));
    }
    EXPECT_EQ(data_hash(InputHash().as_found(experiment, spec)),
              sha256_hex("numbers " + sha256_hex("1 2 4") + "\n"));
}

TEST_F(InputDataTest, AFileIsReadOncePerPlan) {
    InputHash hash;
    const Experiment& experiment = *registry.experiment("dummy/sum");
    const std::string first = data_hash(hash.of(experiment, {}));
    write("1 2 4");
    EXPECT_EQ(data_hash(hash.of(experiment, {})), first);
    EXPECT_NE(data(experiment), first);
}

TEST_F(InputDataTest, AFileThatKeepsItsStampIsReadOncePerProcess) {
    using namespace std::chrono_literals;
    const Experiment& experiment = *registry.experiment("dummy/sum");
    const auto hour_ago = std::filesystem::file_time_type::clock::now() - 1h;
    const auto write_as_of = [&](const std::string& text, std::filesystem::file_time_type time) {
        write(text);
        std::filesystem::last_write_time(numbers, time);
    };
    write_as_of("1 2 3", hour_ago);
    const std::string first = data(experiment);
    write_as_of("1 2 4", hour_ago);
    EXPECT_EQ(data(experiment), first) << "nothing tells that it was written";
    write_as_of("1 2 4", hour_ago + 1us);
    const std::string second = data(experiment);
    EXPECT_NE(second, first);
    write_as_of("1 2 34", hour_ago + 1us);
    EXPECT_NE(data(experiment), second) << "it grew";
    std::filesystem::remove(numbers);
    EXPECT_EQ(data(experiment), "");
}

TEST_F(InputDataTest, AFileThatWasWrittenJustNowIsReadAgain) {
    const Experiment& experiment = *registry.experiment("dummy/sum");
    std::set<std::string> hashes;
    for (int i = 0; i < 8; ++i) {  // within one tick of the clock that files are stamped by
        write(std::to_string(i));
        hashes.insert(data(experiment));
    }
    EXPECT_EQ(hashes.size(), 8U);
}

TEST_F(InputDataTest, SamplesAfterAChangeOfTheirFileAreInvalidAndNotRun) {
    EXPECT_THAT(statuses_when("sample_finished", [&] { write("9 9 9 9"); }),
                ElementsAre("ok", "invalid", "invalid", "invalid", "invalid", "invalid"));
    const std::vector<store::Sample> stored = store.samples(store.sessions().front().id);
    EXPECT_EQ(stored.at(1).reason, "the input numbers " + numbers.string() +
                                       " was changed after the session was planned; start a new "
                                       "one with --fresh");
    EXPECT_TRUE(store.sample(stored.at(1).id).metrics.empty());
    EXPECT_EQ(store.sessions().front().state, "finished");
}

TEST_F(InputDataTest, ASampleDuringWhichItsFileIsChangedIsInvalid) {
    EXPECT_THAT(statuses_when("event", [&] { write("9 9 9 9"); }),
                ElementsAre("invalid", "invalid", "invalid", "invalid", "invalid", "invalid"));
}

TEST_F(InputDataTest, AFileThatComesLaterIsAChange) {
    std::filesystem::remove(numbers);
    EXPECT_THAT(statuses_when("sample_finished", [&] { write("1 2 3"); }),
                ElementsAre("ok", "invalid", "invalid", "invalid", "invalid", "invalid"));
    std::filesystem::remove(numbers);
    EXPECT_THAT(statuses_when("sample_finished", [] {}), Each("ok"));
}

TEST_F(InputDataTest, ACopyOfTheSameContentBetweenTwoSamplesIsNone) {
    const auto replace = [&] {
        std::ofstream(folder / "copy") << "1 2 3";
        std::filesystem::rename(folder / "copy", numbers);
    };
    EXPECT_THAT(statuses_when("sample_finished", replace), Each("ok"));
}

TEST_F(InputDataTest, ThePlansHashIsSha256) {
    const Plan plan = make_plan(registry, request);
    std::string text;
    for (const PlannedSample& sample : plan.samples)
        text += identity(sample.spec) + "  " + sample.data + "\n";
    EXPECT_EQ(plan.hash, sha256_hex(text));
}

}  // namespace
}  // namespace assay::runner
