// Decoding timed, dense against sparse, on the CPU with a tiny model: what is counted, not how
// fast.
#include <gtest/gtest.h>

#include "impls/lte/timing/tensor_decode_timing.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

TensorDecoding tiny() {
    nn::DecoderConfig config;
    config.layers = 2;
    config.width = 64;
    config.hidden = 320;
    config.vocabulary = 40;
    config.context = 64;
    config.heads = 4;
    config.kv_heads = 2;
    config.head_width = 16;
    TensorDecoding setting;
    setting.kernels = assay_cpu_kernels(nullptr);
    setting.weights = std::make_shared<decode::TensorWeights>(
        decode::random_tensor_weights(config, at::kBFloat16, at::kCPU, 1));
    setting.length = 5;
    setting.rounds = 3;
    setting.read_pass_bytes = 1 << 20;
    return setting;
}

TEST(DecodeTiming, CountsTheBytesOfTheExpertsThatAreActive) {
    TensorDecoding setting = tiny();
    int told = 0;
    const auto time = [&] { return time_tensor_decoder(setting, [&](double) { ++told; }); };
    const DecodeTimes dense = time();
    EXPECT_EQ(told, 3);
    const double expert = 3.0 * 32 * 64 * 2, router = 10.0 * 64 * 2;
    for (const int count : {0, 5, 10}) {
        setting.active = decode::RandomExperts{count, 1};
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
    TensorDecoding setting = tiny();
    setting.length = 64;
    EXPECT_THROW(time_tensor_decoder(setting, [](double) {}), UserError);
}

}  // namespace
}  // namespace assay::lte
