// Every rival from its name to its measured quality, and what a kill leaves of it.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "impls/lte/rivals/trained_routers.hpp"
#include "suite/base/error.hpp"
#include "tests/lte/recipes/small_bench.hpp"

namespace assay::lte {
namespace {

/// Trained for half as long as its sizes say: what is asked of it does not hang on quality.
Quality quality_of(Materials materials, Competitor rival, double sparsity) {
    materials.steps = 30;
    MemoryRecorder recorder;
    Workbench bench(materials, recorder);
    auto model = make_rival(bench, rival, sparsity);
    return measure(bench, model);
}

class Rivals : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Rivals, ::testing::Values("gpt-tiny", "llama-tiny"));

TEST_P(Rivals, EveryNameGivesTheSparsityAskedFor) {
    const SmallBench small(GetParam());
    const double dense =
        quality_of(small.materials(), Competitor::dense, 0.5).evaluation.nll_nats_per_token;
    for (const Competitor rival : values_of<Competitor>) {
        if (rival == Competitor::lte || rival == Competitor::dense) continue;
        const auto name = to_string(rival);
        const auto quality = quality_of(small.materials(), rival, 0.5);
        // Thresholds come from other text; all others choose by count.
        const bool threshold = rival == Competitor::teal || rival == Competitor::cats;
        EXPECT_NEAR(quality.sparsity, 0.5, threshold ? 0.05 : 1e-6) << name;
        ASSERT_EQ(quality.layer_sparsity.size(), 2U);
        for (const double layer : quality.layer_sparsity)
            EXPECT_NEAR(layer, 0.5, threshold ? 0.05 : 1e-6) << name;
        // No better than dense by more than luck, and far better than guessing bytes.
        EXPECT_GT(quality.evaluation.nll_nats_per_token, 0.8 * dense) << name;
        EXPECT_LT(quality.evaluation.nll_nats_per_token, 0.8 * std::log(256)) << name;
    }
}

TEST(MakeRival, DenseLeavesNothingOut) {
    const SmallBench small;
    EXPECT_EQ(quality_of(small.materials(), Competitor::dense, 0.5).sparsity, 0);
}

TEST(MakeRival, RefusesWhatItCannotMake) {
    const SmallBench small;
    MemoryRecorder recorder;
    const auto materials = small.materials();
    Workbench bench(materials, recorder);
    EXPECT_THROW(make_rival(bench, Competitor::lte, 0.5), std::out_of_range);
    EXPECT_THROW(make_rival(bench, Competitor::cats, 1), UserError);
    EXPECT_THROW(make_rival(bench, Competitor::wanda_2_4, 0.75), UserError);
}

/// Ends a training as a kill would, after `steps` of its steps.
struct Killed {};
class KillingRecorder : public MemoryRecorder {
  public:
    KillingRecorder(std::string training, int steps)
        : training_(std::move(training)), left_(steps) {}
    void progress(double, std::string_view what) override {
        if (what.starts_with(training_) && left_-- == 0) throw Killed{};
    }

  private:
    std::string training_;
    int left_;
};

struct Outcome {
    std::vector<std::uint64_t> digests;
    double nll = 0;
    bool operator==(const Outcome&) const = default;
};

Outcome run(const Materials& materials, Competitor rival, Recorder& recorder) {
    Workbench bench(materials, recorder);
    auto model = make_rival(bench, rival, 0.5);
    Outcome outcome;
    for (const auto& block : bench.decoder().blocks()) outcome.digests.push_back(block->digest());
    if (auto* routed = dynamic_cast<TrainedSelection*>(model.ffn.get()))
        for (auto* block : routed->routers()) outcome.digests.push_back(block->digest());
    outcome.nll = measure(bench, model).evaluation.nll_nats_per_token;
    return outcome;
}

class Resume : public ::testing::TestWithParam<Competitor> {};
INSTANTIATE_TEST_SUITE_P(Rivals, Resume,
                         ::testing::Values(Competitor::topk_softmax, Competitor::sigma_moe,
                                           Competitor::deja_vu_tuned));

TEST_P(Resume, GoesOnBitForBit) {
    const SmallBench small;
    MemoryRecorder whole;
    const auto uninterrupted = run(small.materials("whole"), GetParam(), whole);
    const auto materials = small.materials("killed");
    const std::string training(to_string(GetParam()));
    KillingRecorder killing(training, 37);
    EXPECT_THROW(run(materials, GetParam(), killing), Killed);
    KillingRecorder resumed(training, 1000);
    EXPECT_EQ(run(materials, GetParam(), resumed), uninterrupted);
    // The curve, too, is whole.
    const auto curve = [](const MemoryRecorder& recorder) {
        return recorder.time_series_kept.back().values;
    };
    EXPECT_EQ(curve(resumed).size(), 60U);
    EXPECT_EQ(curve(resumed), curve(whole));
}

}  // namespace
}  // namespace assay::lte
