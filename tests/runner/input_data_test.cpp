// Files that samples read: their content is part of the series and of the plan.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>
#include <set>

#include "suite/runner/input_hash.hpp"
#include "suite/runner/plan_hash.hpp"
#include "suite/store/sha256.hpp"
#include "tests/runner/dummy_system.hpp"
#include "tests/runner/session_fixture.hpp"

namespace assay::runner {
namespace {

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
    EXPECT_FALSE(InputHash().of(experiment, spec).empty());
    write("1 2 4");
    try {
        InputHash().of(experiment, spec);
        FAIL() << "taken";
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr(numbers.string() + ", the numbers of dummy/sum, was"));
    }
}

TEST_F(InputDataTest, AFileIsReadOncePerPlan) {
    InputHash hash;
    const Experiment& experiment = *registry.experiment("dummy/sum");
    const std::string first = hash.of(experiment, {});
    write("1 2 4");
    EXPECT_EQ(hash.of(experiment, {}), first);
    EXPECT_NE(InputHash().of(experiment, {}), first);
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
