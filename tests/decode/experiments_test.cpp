// The system `decode`: claims ask experiments for what they have, and the simulated ones come out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/llama_cpp.hpp"
#include "impls/decode/experiments/modelled_gpu.hpp"
#include "impls/decode/register.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::decode {
namespace {

class DecodeExperiments : public ::testing::Test {
  protected:
    DecodeExperiments() { setenv("ASSAY_DATASETS", ASSAY_TEST_DATASETS, 1); }

    static std::map<std::string, double> run(const Experiment& experiment,
                                             const std::string& variant, const Case& axes,
                                             Provenance provenance = Provenance::simulated) {
        SampleSpec spec;
        spec.variant = variant;
        spec.axes = axes;
        spec.provenance = provenance;
        spec.scratch = ::testing::TempDir();
        MemoryRecorder recorder;
        experiment.run(spec, recorder);
        std::map<std::string, double> metrics;
        for (const auto& metric : recorder.metrics) {
            EXPECT_TRUE(experiment.metric(metric.name)) << metric.name;
            metrics[metric.name] = metric.value;
        }
        const auto always =
            std::count_if(experiment.metrics.begin(), experiment.metrics.end(),
                          [](const MetricSpec& metric) { return metric.only.empty(); });
        if (provenance == Provenance::simulated) {
            EXPECT_EQ(metrics.size(), static_cast<std::size_t>(always));
        }
        return metrics;
    }
};

TEST_F(DecodeExperiments, ClaimsAndExperimentsFit) {
    Registry registry;
    ASSERT_NO_THROW(registry.add(make_system()));
    EXPECT_TRUE(registry.experiment("decode/x_batch"));
    EXPECT_TRUE(registry.system("decode")->on_request);
}

TEST_F(DecodeExperiments, SharedPromptsAreComputedOnce) {
    const auto none = run(x_prefix(), "prefix_tree", {{"share", 0.0}});
    EXPECT_EQ(none.at("reused_tokens"), 0);
    EXPECT_EQ(none.at("speedup"), 1);
    const auto half = run(x_prefix(), "prefix_tree", {{"share", 0.5}});
    EXPECT_EQ(half.at("reused_tokens"), 63 * 512);
    EXPECT_EQ(half.at("computed_tokens"), 64 * (1024 + 127) - 63 * 512);
    EXPECT_GT(half.at("speedup"), 1.1);
    EXPECT_EQ(half.at("same_bits"), 1);
    EXPECT_EQ(run(x_prefix(), "none", {{"share", 0.5}}).at("speedup"), 1);
}

TEST_F(DecodeExperiments, PreemptionCostsTimeAndNoToken) {
    for (const char* const variant : {"recompute", "swap"}) {
        const auto roomy = run(x_pressure(), variant, {{"blocks", 1.0}});
        EXPECT_EQ(roomy.at("preemptions"), 0);
        EXPECT_EQ(roomy.at("slowdown"), 1);
        const auto tight = run(x_pressure(), variant, {{"blocks", 0.4}});
        EXPECT_GT(tight.at("preemptions"), 0);
        EXPECT_GT(tight.at("slowdown"), 1.1);
        EXPECT_EQ(tight.at("same_bits"), 1);
        EXPECT_EQ(tight.at("computed_tokens") > roomy.at("computed_tokens"),
                  variant == std::string("recompute"));
    }
}

TEST_F(DecodeExperiments, MeasuredSamplesNeedTheModelAndTakeNothingForGranted) {
    setenv("ASSAY_DATA", "/nowhere", 1);
    for (const Experiment& experiment : {x_prefix(), x_pressure()}) {
        SampleSpec spec;
        spec.axes = {{"share", 0.5}, {"blocks", 0.05}};
        spec.provenance = Provenance::simulated;
        EXPECT_FALSE(experiment.unsupported(spec));
        EXPECT_TRUE(experiment.calibration(spec).is_object());
        EXPECT_NO_THROW(experiment.validate(spec));
        spec.provenance = Provenance::measured;
        EXPECT_NE(experiment.unsupported(spec).value_or("").find("smollm2-135m-instruct"),
                  std::string::npos);
        EXPECT_TRUE(experiment.calibration(spec).is_null());
        EXPECT_FALSE(experiment.metric("tokens_per_s")->is_deterministic(Provenance::measured));
        EXPECT_TRUE(experiment.metric("same_bits")->is_deterministic(Provenance::measured));
    }
    // Too few blocks for any request.
    SampleSpec spec;
    spec.axes = {{"blocks", 0.05}};
    spec.provenance = Provenance::measured;
    EXPECT_THROW(x_pressure().validate(spec), UserError);
    unsetenv("ASSAY_DATA");
}

TEST_F(DecodeExperiments, AMoveCostsWhatIsComputedAgain) {
    const auto tokens = run(x_move(), "tokens", {{"length", std::int64_t{512}}});
    EXPECT_GT(tokens.at("lost_s"), 0);
    EXPECT_GT(tokens.at("computed_again"), 16 * 512);
    EXPECT_EQ(tokens.at("same_bits"), 1);
    const auto with_kv = run(x_move(), "with_kv", {{"length", std::int64_t{512}}});
    EXPECT_EQ(with_kv.at("computed_again"), 0);
    EXPECT_LT(with_kv.at("lost_s"), tokens.at("lost_s"));
    const auto killed = run(x_move(), "sigkill", {{"length", std::int64_t{512}}});
    EXPECT_EQ(killed.at("computed_again"), tokens.at("computed_again"));
    EXPECT_GT(killed.at("lost_s"), tokens.at("lost_s"));
    EXPECT_LT(killed.at("lost_s"), tokens.at("lost_s") + modelled_gpu_cost().weights_s);
}

TEST_F(DecodeExperiments, RequestsSurviveAnEnginesProcess) {
    const auto killed =
        run(x_move(), "sigkill", {{"length", std::int64_t{8}}}, Provenance::emulated);
    EXPECT_EQ(killed.at("same_bits"), 1);
    EXPECT_GE(killed.at("computed_again"), 16 * (8 + 32 - 1));
    EXPECT_LT(killed.at("computed_again"), 16 * (8 + 64));
    EXPECT_GT(killed.at("noticed_s"), 0);
}

TEST_F(DecodeExperiments, NewWeightsChangeNoToken) {
    for (const char* const variant : {"beside", "beside_keep", "stopped"}) {
        const auto swapped =
            run(x_swap(), variant, {{"weights", std::int64_t{1}}}, Provenance::measured);
        EXPECT_EQ(swapped.at("same_bits"), 1) << variant;
        EXPECT_GT(swapped.at("load_s"), 0);
        // An embedding and one layer.
        EXPECT_EQ(swapped.at("weight_bytes"), 2 * (4096 * 512 + 3 * 1024 * 1024));
    }
}

TEST_F(DecodeExperiments, CostOfAStepIsTheShapes) {
    const StepCost cost = modelled_gpu_cost();
    // 13.2 GB of weights in bf16 at an A100's 1.6 to 2 TB/s; two operations a weight.
    EXPECT_GT(cost.weights_s, 13.2e9 / 2.1e12);
    EXPECT_LT(cost.weights_s, 13.5e9 / 0.8e12);
    EXPECT_GT(cost.token_s, 13.2e9 / 312e12);
    EXPECT_LT(cost.token_s, 13.5e9 / 100e12);
    // A position's keys and values: 2 · 32 layers · 4096 · 2 bytes.
    EXPECT_NEAR(cost.block_s, 16 * 524288 / 31.5e9, 1e-6);
}

// llama-batched-bench, for as long as this lives: a shell script.
class FakeBench {
  public:
    explicit FakeBench(const std::string& script) {
        std::ofstream(program_) << "#!/bin/sh\n" << script << '\n';
        std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
    }

  private:
    const testing::TemporaryFolder folder_;
    const std::filesystem::path program_ = folder_ / "bench";
    const testing::EnvironmentVariable named_{"ASSAY_LLAMA_BENCH", program_.string()};
};

// What a sample is told about waiting threads would halve its speed.
TEST(LlamaCpp, WaitsAsItDoesByItself) {
    const FakeBench bench("echo '{\"speed_pp\": 1, \"speed_tg\": '${OMP_WAIT_POLICY:-2}'}'");
    const testing::EnvironmentVariable policy("OMP_WAIT_POLICY", "passive");
    EXPECT_EQ(run_llama_cpp({}).tokens_per_s, 2);
}

TEST(LlamaCpp, IsAskedForBatchesOneAfterTheOther) {
    const FakeBench bench(
        "case \"$*\" in *'-npl 4,4,4 '*) echo '{\"speed_pp\": 1, \"speed_tg\": 3}';; esac");
    EXPECT_EQ(run_llama_cpp({.model = "m", .batch = 4, .repeats = 3}).tokens_per_s, 3);
    EXPECT_THROW(run_llama_cpp({.model = "m", .batch = 4}), SampleError);
}

TEST(LlamaCpp, SpeedOfTheLineThatTellsOfABatch) {
    const auto speed = llama_cpp_speed(
        "load: something\n{\"n_kv_max\": 4096, \"pp\": 128, \"tg\": 128, \"pl\": 4, \"t_pp\": 1.5, "
        "\"speed_pp\": 341.3, \"t_tg\": 3.0, \"speed_tg\": 170.7, \"t\": 4.5, \"speed\": 227.5}\n");
    ASSERT_TRUE(speed);
    EXPECT_DOUBLE_EQ(speed->tokens_per_s, 170.7);
    EXPECT_DOUBLE_EQ(speed->prefill_tokens_per_s, 341.3);
    // Two batches: 128 tokens in a second, then in three.
    const auto mean = llama_cpp_speed(
        "{\"speed_pp\": 100, \"speed_tg\": 128}\n{\"speed_pp\": 100, \"speed_tg\": "
        "42.666666666666664}");
    ASSERT_TRUE(mean);
    EXPECT_DOUBLE_EQ(mean->tokens_per_s, 64);
    EXPECT_DOUBLE_EQ(mean->prefill_tokens_per_s, 100);
    EXPECT_FALSE(llama_cpp_speed("{\"speed_pp\": 0, \"speed_tg\": 0}"));
    EXPECT_FALSE(llama_cpp_speed(""));
    EXPECT_FALSE(llama_cpp_speed("{\"speed_pp\": 1}\n{\"speed_tg\": \"x\", \"speed_pp\": 2}"));
}

}  // namespace
}  // namespace assay::decode
