// Levels that rows must reach, and those of the suite for GPUs against what an H100 measured.
#include "suite/gate/level.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "suite/base/error.hpp"
#include "suite/compare/arm.hpp"
#include "suite/gate/benchmark_experiment.hpp"
#include "suite/gate/night_verdict.hpp"
#include "suite/gate/output/night_reports.hpp"
#include "suite/gate/output/night_words.hpp"
#include "tests/gate/night_fixture.hpp"

namespace assay::gate {
namespace {

using testing::HasSubstr;

const std::vector<std::string> h100{"NVIDIA H100 80GB HBM3"};

/// Rows of a benchmark program as a first night has them.
class FirstNight {
  public:
    void add(const std::string& program, const std::string& benchmark, const std::string& metric,
             std::vector<double> values, Direction better = Direction::higher,
             const std::string& unit = "share") {
        compare::Series& series = series_.emplace_back();
        for (std::size_t i = 0; i < values.size(); ++i) {
            compare::Point point;
            point.value = values[i];
            series.points.push_back(point);
        }
        NightRow row;
        row.against_baseline.id = {std::string(benchmark_experiment),
                                   "program",
                                   {{"name", program}},
                                   metric,
                                   {{"benchmark", benchmark}}};
        row.against_baseline.b = &series;
        row.against_baseline.better = better;
        row.against_baseline.unit = unit;
        night.rows.push_back(row);
    }
    LevelFindings judged(const std::vector<SuiteLevel>& levels,
                         const std::vector<std::string>& gpus) {
        return judge_levels(night.rows, levels, gpus, names_of(night));
    }
    Night night = first_night_without_rows();

  private:
    static Night first_night_without_rows() {
        Night night = first_night();
        night.rows.clear();
        return night;
    }
    std::deque<compare::Series> series_;
};

TEST(Levels, AreOfTheirGpuAndJudgedByTheMedian) {
    FirstNight night;
    night.add("k", "ffn/50", "of_read", {0.1, 0.74, 0.9});
    const auto judged = [&](double at_least, const char* gpu, const std::vector<std::string>& of) {
        return night.judged({{"benchmark/k ffn/*", "of_read", at_least, gpu}}, of);
    };
    EXPECT_EQ(judged(0.74, "H100*", h100).reached, 1);
    EXPECT_THAT(judged(0.75, "H100*", h100).below,
                testing::ElementsAre(AllOf(HasSubstr("ffn/50"),
                                           HasSubstr("0.74, at least 0.75 is expected of H100*"))));
    EXPECT_TRUE(judged(0.75, "H200", h100).below.empty());
    EXPECT_EQ(judged(0.75, "", {}).below.size(), 1u);
    night.night.rows.front().muted = true;
    EXPECT_TRUE(judged(0.75, "H100*", h100).below.empty());
}

TEST(Levels, WhereLessIsBetterAskForAtMostThat) {
    FirstNight night;
    night.add("k", "ffn/50", "real_time", {3e-3, 2e-3, 9e-3}, Direction::lower, "s");
    SuiteLevel level{"benchmark/k ffn/*", "real_time", std::nullopt, ""};
    level.at_most = 3e-3;
    EXPECT_EQ(night.judged({level}, {}).reached, 1);
    level.at_most = 2.9e-3;
    EXPECT_THAT(night.judged({level}, {}).below,
                testing::ElementsAre(HasSubstr("0.003 s, at most 0.0029 s is expected")));
    SuiteLevel against{"benchmark/k ffn/*", "real_time", 1e-3, ""};
    against.where = "s.toml:4:1";
    const LevelFindings refused = night.judged({against}, {});
    EXPECT_THAT(refused.failures,
                testing::ElementsAre(AllOf(HasSubstr("s.toml:4:1"), HasSubstr("less is better"),
                                           HasSubstr("write at_most"))));
    EXPECT_TRUE(refused.below.empty());
    EXPECT_EQ(refused.reached, 0);
}

TEST(Levels, AreOfAModelsWholeName) {
    FirstNight night;
    night.add("k", "ffn/50", "of_read", {0.1});
    const auto concerned = [&](const char* level, const char* gpu) {
        return !night.judged({{"benchmark/k ffn/*", "of_read", 0.5, level}}, {gpu}).below.empty();
    };
    EXPECT_TRUE(concerned("H100 80GB HBM3", "NVIDIA H100 80GB HBM3"));
    EXPECT_TRUE(concerned("NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3"));
    EXPECT_FALSE(concerned("H100 80GB HBM3", "NVIDIA H100 PCIe"));
    EXPECT_FALSE(concerned("H100", "NVIDIA H100 NVL"));
    EXPECT_FALSE(concerned("H200", "NVIDIA H200 NVL"));
    EXPECT_FALSE(concerned("H200", "NVIDIA GH200 480GB"));
    EXPECT_TRUE(concerned("H100*", "NVIDIA H100 PCIe"));
}

TEST(Levels, ForOtherGpusAloneAreWarnedOf) {
    FirstNight night;
    night.add("k", "ffn/50", "of_read", {0.6});
    const SuiteLevel of_h200{"benchmark/k ffn/*", "of_read", 0.5, "H200"};
    const SuiteLevel of_all{"benchmark/k ffn/*", "of_read", 0.5, ""};
    EXPECT_THAT(night.judged({of_h200, of_all}, h100).warnings,
                testing::ElementsAre(HasSubstr("no level of the suite is for NVIDIA H100 80GB")));
    EXPECT_TRUE(night.judged({of_all}, h100).warnings.empty());
    EXPECT_TRUE(night.judged({of_h200, of_all}, {}).warnings.empty());
    EXPECT_TRUE(night.judged({of_h200, of_all}, {"NVIDIA H200"}).warnings.empty());
}

TEST(Levels, ThatNoRowIsOfAreWarnedOf) {
    FirstNight night;
    night.add("k", "ffn/50", "real_time", {1e-3});
    const auto found = night.judged({{"benchmark/k ffn/*", "of_read", 0.5, ""}}, {});
    EXPECT_THAT(found.warnings, testing::ElementsAre(HasSubstr("judges nothing")));
    EXPECT_TRUE(found.below.empty());
}

TEST(Levels, BelowOneEveryReportFailsTheNight) {
    Night night = first_night();
    night.below_level = {"benchmark/k ffn/50 · of_read: 0.5, at least 0.7 is expected of H100"};
    judge(night);
    EXPECT_EQ(night.verdict, NightVerdict::regression);
    EXPECT_THAT(verdict_words(night), testing::StartsWith("1 row below the level; 0 of "));
    for (const std::string& report :
         {terminal_text(night), json_text(night), junit_xml(night), markdown_summary(night),
          html_page(night), github_annotations(night)})
        EXPECT_THAT(report, HasSubstr("at least 0.7 is expected of H100"));
    EXPECT_THAT(junit_xml(night), HasSubstr("failures=\"1\""));
}

/// What an H100 measured, times `factor`.
FirstNight measured(double factor) {
    FirstNight night;
    const std::pair<const char*, double> of_read[] = {
        {"ffn/0/manual_time", 0.87},        {"ffn/50/manual_time", 0.79},
        {"ffn/75/manual_time", 0.68},       {"ffn/90/manual_time", 0.48},
        {"cublas/dense/manual_time", 0.82}, {"gemv/11008x4096/1/manual_time", 0.88}};
    for (const auto& [name, share] : of_read)
        night.add("gpu-kernels", name, "of_read", {factor * share});
    for (const char* way : {"shuffle", "unshuffle"})
        night.add("gpu-kernels", std::string("dispatch/") + way + "/bf16/1024/8192/manual_time",
                  "of_copy", {factor * 0.94});
    night.add("gpu-memory", "memory/read/manual_time", "of_peak", {factor * 3.04 / 3.352});
    return night;
}

TEST(Levels, OfTheSuiteForGpusHoldForTheMachineThatTheyWereMeasuredOn) {
    const SuiteFile suite = read_suite(ASSAY_SUITES "/gpu.toml");
    const auto well = measured(1).judged(suite.levels, h100);
    EXPECT_TRUE(well.below.empty()) << testing::PrintToString(well.below);
    // Both have been added since that GPU was at hand.
    EXPECT_THAT(well.warnings, testing::ElementsAre(HasSubstr("memory/copy"), HasSubstr("gemm")));
    EXPECT_EQ(well.reached, 9);
    EXPECT_EQ(measured(0.85).judged(suite.levels, h100).below.size(), 9u);
    EXPECT_EQ(measured(0.85).judged(suite.levels, {"NVIDIA A10"}).below.size(), 1u);
}

TEST(Levels, OfTheSuiteForGpusNameThreeKindsOfH100) {
    const SuiteFile suite = read_suite(ASSAY_SUITES "/gpu.toml");
    for (const char* gpu :
         {"NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe", "NVIDIA H100 NVL", "NVIDIA H200"})
        EXPECT_EQ(measured(0.1).judged(suite.levels, {gpu}).below.size(),
                  std::string(gpu).ends_with("HBM3") ? 9u : 7u)
            << gpu;
}

TEST(Levels, MustSayWhatTheyAskFor) {
    const auto complaint = [](const std::string& level) -> std::string {
        try {
            parse_suite("name = \"a\"\n[[experiment]]\npatterns = [\"all\"]\n[[level]]\n" + level,
                        "s.toml");
        } catch (const UserError& error) {
            return error.what();
        }
        return "none";
    };
    EXPECT_EQ(complaint("row = \"*\"\nmetric = \"m\"\nat_least = 0.5\ngpu = \"H100\""), "none");
    EXPECT_THAT(complaint("row = \"*\"\nmetric = \"m\""), HasSubstr("at_least"));
    EXPECT_THAT(complaint("row = \"*\"\nmetric = \"m\"\nat_least = 0"), HasSubstr("above 0"));
    EXPECT_THAT(complaint("metric = \"m\"\nat_least = 1"), HasSubstr("row"));
    EXPECT_EQ(complaint("row = \"*\"\nmetric = \"m\"\nat_most = 0.5"), "none");
    EXPECT_THAT(complaint("row = \"*\"\nmetric = \"m\"\nat_most = -1"), HasSubstr("above 0"));
    EXPECT_THAT(complaint("row = \"*\"\nmetric = \"m\"\nat_least = 1\nat_most = 2"),
                HasSubstr("one of 'at_least'"));
    EXPECT_THAT(complaint("row = \"*\"\nmetric = \"m\"\nat_last = 1"), HasSubstr("at_least"));
}

}  // namespace
}  // namespace assay::gate
