// lazarus/fig6 and its like at profile toy, and what profile paper adds; tab1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "impls/lazarus/register.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/runner/runner.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::lazarus {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class LazarusControlled : public ::testing::Test {
  protected:
    testing::TemporaryFolder folder;
    testing::EnvironmentVariable data{"ASSAY_DATA", folder.path().string()};
    Registry registry;
    runner::Request request;

    LazarusControlled() {
        registry.add(make_system(Claims::leave));
        request.axes = {{"model", {"gpt-s"}}, {"relaunch_s", {std::int64_t{60}}}};
    }
    struct Ran {
        runner::PlannedSample planned;
        MemoryRecorder recorder;
    };
    std::map<std::string, Ran> run(const std::string& id) {
        request.patterns = {id};
        std::map<std::string, Ran> by_variant;
        for (const auto& sample : runner::make_plan(registry, request).samples) {
            Ran ran{sample, {}};
            sample.experiment->run(sample.spec, ran.recorder);
            by_variant.emplace(sample.spec.variant, std::move(ran));
        }
        return by_variant;
    }
    static const MemoryRecorder::TimeSeries& curve(const MemoryRecorder& recorder,
                                                   std::string_view name) {
        for (const auto& series : recorder.time_series_kept)
            if (series.name == name) return series;
        throw std::out_of_range(std::string(name));
    }
    static std::vector<int> deaths(const MemoryRecorder& recorder) {
        std::vector<int> ranks;
        for (const auto& event : recorder.events)
            if (event.kind == "fault") ranks.push_back(event.rank);
        return ranks;
    }
};

TEST_F(LazarusControlled, SameVictimsInAllArms) {
    const auto ran = run("lazarus/fig6");
    ASSERT_EQ(ran.size(), 3U);
    const auto& lazarus = ran.at("lazarus");
    EXPECT_EQ(deaths(lazarus.recorder).size(), 5U);
    for (const auto& [variant, other] : ran) {
        EXPECT_EQ(deaths(other.recorder), deaths(lazarus.recorder)) << variant;
        EXPECT_EQ(other.planned.experiment->calibration(other.planned.spec),
                  lazarus.planned.experiment->calibration(lazarus.planned.spec));
    }
}

TEST_F(LazarusControlled, LazarusGoesOnWithAllSurvivorsAndNoCheckpoint) {
    const auto ran = run("lazarus/fig6");
    const MemoryRecorder& lazarus = ran.at("lazarus").recorder;
    auto workers_at_changes = curve(lazarus, "workers").values;  // rebalances are among them
    workers_at_changes.erase(std::unique(workers_at_changes.begin(), workers_at_changes.end()),
                             workers_at_changes.end());
    EXPECT_EQ(workers_at_changes, (std::vector<double>{10, 9, 8, 7, 6, 5}));
    EXPECT_EQ(lazarus.value("restarts"), 0);
    EXPECT_EQ(lazarus.value("share", {{"part", "checkpoint"}}), 0);
    EXPECT_EQ(ran.at("ds").recorder.value("restarts"), 5);
    // In whole groups of two.
    for (const double workers : curve(ran.at("ds_ft").recorder, "workers").values)
        EXPECT_EQ(int(workers) % 2, 0);
}

TEST_F(LazarusControlled, CurvesAddUpToTheTotal) {
    for (const char* id : {"lazarus/fig6", "lazarus/fig7"})
        for (const auto& [variant, ran] : run(id)) {
            const auto& kept = curve(ran.recorder, "throughput_kept").values;
            const double total = ran.recorder.value("samples_total");
            EXPECT_NEAR(60 * std::accumulate(kept.begin(), kept.end(), 0.0), total, 1e-6 * total)
                << id << ' ' << variant;
            EXPECT_NEAR(curve(ran.recorder, "samples").values.back(), total, 1e-6 * total);
            double in_phases = 0;
            for (const auto& metric : ran.recorder.metrics) {
                if (metric.name != "rate") continue;
                const auto from = std::get<std::int64_t>(metric.labels.at("from_min")),
                           to = std::get<std::int64_t>(metric.labels.at("to_min"));
                const std::int64_t phase = id == std::string("lazarus/fig6") ? 5 : 40;
                if (to - from == phase) in_phases += metric.value * 60 * double(phase);
            }
            EXPECT_NEAR(in_phases, total, 1e-6 * total);
        }
}

TEST_F(LazarusControlled, RarerFailuresAreWrittenFewerCheckpointsAgainst) {
    const double often =
        run("lazarus/fig6").at("ds").recorder.value("share", {{"part", "checkpoint"}});
    const double rarely =
        run("lazarus/fig7").at("ds").recorder.value("share", {{"part", "checkpoint"}});
    EXPECT_LT(rarely, often / 2);
}

TEST_F(LazarusControlled, ProfilePaperRunsAtAllEndsThatTheCaseDoesNotName) {
    request.profile = Profile::paper;
    request.rounds = 1;
    request.variants = {"ds"};
    request.axes["trace"] = {"synthetic"};
    request.axes["modelled_steps"] = {std::int64_t{50}};
    request.axes["overlap"] = {1.0};
    request.axes["detect_s"] = {std::int64_t{12}};
    const auto ran = run("lazarus/fig6");
    std::set<Labels> ends;
    for (const auto& metric : ran.at("ds").recorder.metrics)
        if (metric.name == "samples_total_at_ends") ends.insert(metric.labels);
    EXPECT_EQ(ends.size(), 8U);
    for (const Labels& labels : ends) {
        EXPECT_EQ(labels.count("overlap"), 0U);
        EXPECT_EQ(labels.count("detect_s"), 0U);
        EXPECT_EQ(labels.count("regroup_s"), 1U);
    }
}

TEST_F(LazarusControlled, RefusesWhatIsNoInput) {
    const auto refused = [&](const char* axis, Value value) {
        request.axes[axis] = {std::move(value)};
        request.patterns = {"lazarus/fig6"};
        runner::make_plan(registry, request);
    };
    EXPECT_THAT([&] { refused("matmul_efficiency", 0.0); },
                ThrowsMessage<UserError>(HasSubstr("axis matmul_efficiency")));
    request.axes.erase("matmul_efficiency");
    EXPECT_THAT([&] { refused("detect_s", "soon"); },
                ThrowsMessage<UserError>(HasSubstr("axis detect_s: a number, not soon")));
}

TEST_F(LazarusControlled, Table1ComesOut) {
    request.axes = {};
    const std::map<std::string, double> wanted{
        {"gpt-s", 521e6}, {"gpt-m", 1.3e9}, {"gpt-l", 1.7e9}};
    request.patterns = {"lazarus/tab1"};
    for (const auto& sample : runner::make_plan(registry, request).samples) {
        MemoryRecorder recorder;
        sample.experiment->run(sample.spec, recorder);
        const std::string model = to_string(sample.spec.axes.at("model"));
        const double parameters = wanted.at(model);
        EXPECT_NEAR(recorder.value("parameters"), parameters, model == "gpt-s" ? 5e5 : 5e7);
        EXPECT_NEAR(recorder.value("expert_state"), model == "gpt-s" ? 63 : 112, 1e-9) << "MiB";
    }
}

}  // namespace
}  // namespace assay::lazarus
