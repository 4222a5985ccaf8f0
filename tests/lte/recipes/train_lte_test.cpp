// The arms of lte/x_routers, whole samples on the smallest model.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "impls/lte/experiments/on_workbench.hpp"
#include "tests/lte/recipes/small_bench.hpp"

namespace assay::lte {
namespace {

constexpr std::int64_t steps = 15;

MemoryRecorder made(const SmallBench& small, RouterArm arm) {
    auto routers = small.training<XRouters>(steps);
    routers.arm = arm;
    MemoryRecorder recorder;
    run(routers, recorder);
    return recorder;
}

/// Steps of each training after the base.
std::map<std::string, std::size_t> trained_steps(const MemoryRecorder& recorder) {
    std::map<std::string, std::size_t> found;
    for (const auto& series : recorder.time_series_kept)
        if (series.name == "loss" && assay::to_string(series.labels.at("training")) != "base")
            found[assay::to_string(series.labels.at("training"))] = series.values.size();
    return found;
}

TEST(RouterArms, AllTrainOnEquallyManyTokens) {
    const SmallBench small("llama-tiny");
    for (const RouterArm arm : values_of<RouterArm>) {
        const auto recorder = made(small, arm);
        const auto trained = trained_steps(recorder);
        std::size_t all = 0;
        for (const auto& [name, count] : trained) all += count;
        EXPECT_EQ(all, static_cast<std::size_t>(steps)) << to_string(arm);
        EXPECT_GT(recorder.value("perplexity"), 1) << to_string(arm);
        if (arm == RouterArm::fast_detached_bias_tuned) {
            EXPECT_EQ(trained, (std::map<std::string, std::size_t>{
                                   {"dense", 5}, {"stage1", 6}, {"stage2", 4}}));
        }
    }
}

TEST(RouterArms, SayWhatTheirRoutersDid) {
    const SmallBench small("llama-tiny");
    const auto as_is = made(small, RouterArm::as_is),
               biased = made(small, RouterArm::fast_detached_bias);
    const auto before = [](const MemoryRecorder& recorder, const std::string& metric) {
        return recorder.value(metric, {{"when", std::string("before")}});
    };
    // With the bias the soft model starts as the dense one; without it each expert is halved.
    EXPECT_LT(before(biased, "soft_loss"), before(as_is, "soft_loss"));
    EXPECT_LT(before(biased, "near_threshold"), 0.1);
    EXPECT_GT(before(as_is, "near_threshold"), 0.5);
    for (const auto* recorder : {&as_is, &biased}) {
        double shares = 0;
        std::set<double> progress;
        for (const auto& metric : recorder->metrics) {
            if (metric.name == "score_share") shares += metric.value;
            if (metric.name == "gradient_norm")
                progress.insert(std::get<double>(metric.labels.at("progress")));
        }
        EXPECT_NEAR(shares, 2, 1e-9);  // before and after
        EXPECT_EQ(progress, (std::set<double>{0, 0.25, 0.5, 0.75, 1}));
        EXPECT_TRUE(std::isfinite(recorder->value("hard_loss")));
    }
}

// Without separability the schedule has nothing to move scores with: what is asked for is then
// reached by the threshold, as far as stage 2 leaves scores there, and two requests are two models.
TEST(TrainLte, HeedsItsTargetWithoutSeparability) {
    const SmallBench small("llama-tiny");
    std::vector<double> reached;
    for (const double target : {0.25, 0.75}) {
        const auto materials = small.materials();
        MemoryRecorder recorder;
        Workbench bench(materials, recorder);
        auto trained = train_lte(bench, {.lambda = 0, .target_sparsity = target});
        EXPECT_NE(trained.tau, 0.5);
        reached.push_back(measure(bench, trained.model).sparsity);
        EXPECT_NEAR(reached.back(), target, 0.2);
    }
    EXPECT_GT(reached[1], reached[0] + 0.2);
}

}  // namespace
}  // namespace assay::lte
