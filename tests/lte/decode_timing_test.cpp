// Decoding timed, dense against sparse, on the CPU with a tiny model: what is counted, not how
// fast.
#include "impls/lte/experiments/decode_timing.hpp"

#include <gtest/gtest.h>

#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/timed_device.hpp"
#include "suite/experiment/error.hpp"

namespace assay::lte {
namespace {

DecodeSetting tiny() {
    nn::DecoderConfig config;
    config.layers = 2;
    config.width = 64;
    config.hidden = 320;
    config.vocabulary = 40;
    config.context = 64;
    config.heads = 4;
    config.kv_heads = 2;
    config.head_width = 16;
    DecodeSetting setting;
    setting.kernels = assay_cpu_kernels(nullptr);
    setting.weights = std::make_shared<decode::TensorWeights>(
        decode::random_tensor_weights(config, at::kBFloat16, at::kCPU, 1));
    setting.length = 5;
    setting.rounds = 3;
    setting.read_pass_bytes = 1 << 20;
    return setting;
}

TEST(DecodeTiming, CountsTheBytesOfTheExpertsThatAreActive) {
    DecodeSetting setting = tiny();
    int told = 0;
    const auto time = [&] { return time_decoding(setting, [&](double) { ++told; }); };
    const DecodeTimes dense = time();
    EXPECT_EQ(told, 3);
    const double expert = 3.0 * 32 * 64 * 2, router = 10.0 * 64 * 2;
    for (const int count : {0, 5, 10}) {
        setting.drawn = decode::FixedActive{count, 1};
        const DecodeTimes sparse = time();
        EXPECT_EQ(dense.bytes_per_token - sparse.bytes_per_token,
                  2 * ((10 - count) * expert - router));
        EXPECT_GT(sparse.seconds, 0);
        EXPECT_GT(sparse.latency_ratio, 0);
        EXPECT_GT(sparse.bound_share, 0);
        EXPECT_GT(sparse.read_bandwidth, 0);
    }
}

TEST(DecodeTiming, RefusesMoreThanTheContextHolds) {
    DecodeSetting setting = tiny();
    setting.length = 64;
    EXPECT_THROW(time_decoding(setting, [](double) {}), UserError);
}

TEST(Fig8b, HasAProfileForGpusAndSaysWhatIsMissing) {
    const Experiment experiment = with_gpu_profile(fig8b());
    const ProfilePlan* plan = experiment.plan(Profile::gpu);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->axes.at("model"), std::vector<Value>{"llama2-7b"});
    EXPECT_FALSE(plan->axes.contains("length"));
    SampleSpec spec;
    spec.profile = Profile::gpu;
    spec.axes = {{"model", "llama2-7b"}, {"sparsity", 0.5}, {"length", std::int64_t{32}}};
    EXPECT_NO_THROW(experiment.validate(spec));
    spec.axes["model"] = "smollm2-135m";
    EXPECT_THROW(experiment.validate(spec), UserError);
    spec.profile = Profile::toy;
    EXPECT_NO_THROW(experiment.validate(spec));
    spec.profile = Profile::gpu;
    if (const auto reason = experiment.unsupported(spec)) {
        EXPECT_NE(reason->find("not supported here"), std::string::npos) << *reason;
    }
}

}  // namespace
}  // namespace assay::lte
