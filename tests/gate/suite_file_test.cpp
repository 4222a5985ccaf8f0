#include "suite/gate/plan/suite_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/base/error.hpp"

namespace assay::gate {
namespace {

using ::testing::HasSubstr;

std::string complaint(std::string_view text) {
    try {
        parse_suite(text, "s.toml");
    } catch (const UserError& error) {
        return error.what();
    }
    return "none";
}

constexpr std::string_view whole = R"(name = "cpu"
rounds = 7
margin = 0.03
rerun_budget_s = 60
min_apart_h = 6.5
p = 0.01
control = false

[[experiment]]
patterns = ["lte/fig8", "lazarus/x_*"]
profile = "small"
mode = "measured"
axes = { tokens = [1, 8], share = 0.5, model = "toy" }
variants = ["dense"]
metrics = ["latency_s"]
rounds = 2
margin = 0.1

[[benchmark]]
name = "planner"
program = "lazarus_planner_benchmark"
arguments = ["--benchmark_min_time=0.05"]
from = "google-benchmark"
rounds = 3
)";

TEST(SuiteFile, ReadsEveryKey) {
    const SuiteFile suite = parse_suite(whole, "s.toml");
    EXPECT_EQ(suite.name, "cpu");
    EXPECT_EQ(suite.rounds, 7);
    EXPECT_EQ(suite.margin, 0.03);
    EXPECT_EQ(suite.rerun_budget_s, 60);
    EXPECT_EQ(suite.min_apart_h, 6.5);
    EXPECT_EQ(suite.p, 0.01);
    EXPECT_FALSE(suite.control);
    ASSERT_EQ(suite.experiments.size(), 1u);
    const SuiteExperiment& experiment = suite.experiments[0];
    EXPECT_EQ(experiment.patterns, (std::vector<std::string>{"lte/fig8", "lazarus/x_*"}));
    EXPECT_EQ(experiment.profile, Profile::small);
    EXPECT_EQ(experiment.provenance, Provenance::measured);
    EXPECT_EQ(experiment.axes.at("tokens"), (std::vector<Value>{std::int64_t{1}, std::int64_t{8}}));
    EXPECT_EQ(experiment.axes.at("share"), std::vector<Value>{0.5});
    EXPECT_EQ(experiment.axes.at("model"), std::vector<Value>{std::string("toy")});
    EXPECT_EQ(experiment.variants, std::vector<std::string>{"dense"});
    EXPECT_EQ(experiment.metrics, std::vector<std::string>{"latency_s"});
    EXPECT_EQ(experiment.rounds, 2);
    EXPECT_EQ(experiment.margin, 0.1);
    ASSERT_EQ(suite.benchmarks.size(), 1u);
    EXPECT_EQ(suite.benchmarks[0].name, "planner");
    EXPECT_EQ(suite.benchmarks[0].program, "lazarus_planner_benchmark");
    EXPECT_EQ(suite.benchmarks[0].arguments, std::vector<std::string>{"--benchmark_min_time=0.05"});
    EXPECT_EQ(suite.benchmarks[0].from, "google-benchmark");
    EXPECT_EQ(suite.benchmarks[0].rounds, 3);
    EXPECT_EQ(suite.benchmarks[0].margin, std::nullopt);
}

TEST(SuiteFile, DefaultsAreThoseOfTheHeader) {
    const SuiteFile suite =
        parse_suite("name = \"a\"\n[[experiment]]\npatterns = [\"all\"]", "s.toml");
    const SuiteFile defaults;
    EXPECT_EQ(suite.rounds, defaults.rounds);
    EXPECT_EQ(suite.margin, defaults.margin);
    EXPECT_EQ(suite.rerun_budget_s, defaults.rerun_budget_s);
    EXPECT_EQ(suite.min_apart_h, 4);
    EXPECT_EQ(suite.p, defaults.p);
    EXPECT_TRUE(suite.control);
    EXPECT_EQ(suite.experiments[0].profile, Profile::toy);
    EXPECT_EQ(suite.experiments[0].provenance, std::nullopt);
}

TEST(SuiteFile, ComplaintsNameLineAndColumn) {
    const auto with = [](const std::string& line) {
        return complaint("name = \"a\"\n" + line + "\n[[experiment]]\npatterns = [\"x\"]");
    };
    EXPECT_THAT(with("round = 5"), HasSubstr("s.toml:2:9"));
    EXPECT_THAT(with("round = 5"), HasSubstr("'round' is not a known key"));
    EXPECT_THAT(with("rounds = 0"), HasSubstr("s.toml:2:10: the suite: 'rounds' must be a whole"));
    EXPECT_THAT(with("rounds = 2.5"), HasSubstr("whole number"));
    EXPECT_THAT(with("margin = 2"), HasSubstr("below 1"));
    EXPECT_THAT(with("margin = 0"), HasSubstr("above 0"));
    EXPECT_THAT(with("margin = nan"), HasSubstr("finite"));
    EXPECT_THAT(with("p = 1"), HasSubstr("probability"));
    EXPECT_THAT(with("rerun_budget_s = -1"), HasSubstr("above 0"));
    EXPECT_THAT(with("min_apart_h = -1"), HasSubstr("'min_apart_h' must be from 0 (every run"));
    EXPECT_THAT(with("min_apart_h = 24"), HasSubstr("to 20, in hours"));
    EXPECT_EQ(with("min_apart_h = 0"), "none");
    EXPECT_THAT(with("control = 1"), HasSubstr("true or false"));
    EXPECT_THAT(with("name = "), HasSubstr("s.toml:2:"));
    EXPECT_THAT(with("= 3"), HasSubstr("not valid TOML"));
}

TEST(SuiteFile, RefusesWhatWouldWatchNothing) {
    EXPECT_THAT(complaint("name = \"a\""), HasSubstr("nothing to run"));
    EXPECT_THAT(complaint("[[experiment]]\npatterns = [\"x\"]"), HasSubstr("lacks 'name'"));
    EXPECT_THAT(complaint("name = \"a b\"\n[[experiment]]\npatterns = [\"x\"]"),
                HasSubstr("letters, digits"));
    EXPECT_THAT(complaint("name = \"a\"\n[[experiment]]\nprofile = \"toy\""),
                HasSubstr("lacks 'patterns'"));
    const std::string experiment = "name = \"a\"\n[[experiment]]\npatterns = [\"x\"]\n";
    EXPECT_THAT(complaint(experiment + "profile = \"tiny\""), HasSubstr("must be toy"));
    EXPECT_THAT(complaint(experiment + "mode = \"guessed\""), HasSubstr("must be exact"));
    EXPECT_THAT(complaint(experiment + "axes = { n = [] }"), HasSubstr("must not be empty"));
    EXPECT_THAT(complaint(experiment + "axes = { n = [1, true] }"), HasSubstr("'n' must be"));
    EXPECT_THAT(complaint(experiment + "axis = { n = 1 }"), HasSubstr("not a known key"));
    const std::string benchmark = "name = \"a\"\n[[benchmark]]\nname = \"x\"\n";
    EXPECT_THAT(complaint(benchmark), HasSubstr("lacks 'program'"));
    EXPECT_THAT(complaint(benchmark + "program = \"p\"\n[[benchmark]]\nname = \"x\"\n"
                                      "program = \"q\""),
                HasSubstr("one before it"));
}

TEST(SuiteFile, OnlyAFormatThatIsReadMayBeNamed) {
    EXPECT_THAT(complaint("name = \"a\"\n[[benchmark]]\nname = \"b\"\nprogram = \"x\"\n"
                          "from = \"hyper\""),
                AllOf(HasSubstr("s.toml:5:8"), HasSubstr("no format is called 'hyper'; there are "),
                      HasSubstr("hyperfine (--export-json FILE)")));
}

TEST(SuiteFile, AMissingFileIsASentence) {
    EXPECT_THROW(read_suite("/nonexistent/suite.toml"), UserError);
}

}  // namespace
}  // namespace assay::gate
