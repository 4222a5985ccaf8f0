// The CPU engine timed, dense against sparse, with a toy model: what is counted, not how fast.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "impls/lte/timing/decode_timing.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "tests/nn/files/toy_gguf.hpp"

namespace assay::lte {
namespace {

nn::TensorFile toy_file(int hidden) {
    nn::DecoderConfig config = nn::toy_llama_config();
    config.layers = 2;
    config.width = 64;
    config.hidden = hidden;
    config.heads = 4;
    config.kv_heads = 2;
    config.head_width = 16;
    config.vocabulary = 1100;  // of the ids that are fed
    config.context = 64;
    return nn::TensorFile::in_memory(nn::gguf_of(nn::toy_model(config)).bytes(), "toy.gguf");
}

EngineDecoding short_run() { return {.length = 4, .rounds = 3, .read_pass_bytes = 1 << 20}; }

TEST(EngineTiming, CountsTheBytesOfTheExpertsThatAreActive) {
    const nn::TensorFile file = toy_file(160);
    EngineDecoding setting = short_run();
    int told = 0;
    const auto time = [&] { return time_engine(file, setting, [&](double) { ++told; }); };
    const DecodeTimes dense = time();
    EXPECT_EQ(told, 3);
    const double expert = 3.0 * 32 * 64 * 2, router = 5.0 * 64 * 2;
    for (const double sparsity : {0.0, 0.4, 1.0}) {
        setting.sparsity = sparsity;
        const DecodeTimes sparse = time();
        EXPECT_EQ(dense.bytes_per_token - sparse.bytes_per_token,
                  2 * (std::lround(sparsity * 5) * expert - router))
            << sparsity;
        EXPECT_GT(sparse.seconds, 0);
        EXPECT_GT(sparse.latency_ratio, 0);
        EXPECT_GT(sparse.bound_share, 0);
    }
}

TEST(EngineTiming, RefusesNeuronsThatAreNoExperts) {
    EngineDecoding setting = short_run();
    setting.sparsity = 0.5;
    EXPECT_THROW(time_engine(toy_file(72), setting, [](double) {}), UserError);
}

TEST(EngineTiming, RecordsWhatTheFigureDeclares) {
    MemoryRecorder recorder;
    record({.seconds = 0.5, .latency_ratio = 0.75, .bound_share = 0.9, .read_bandwidth = 2e9},
           DecodeFound(recorder));
    std::map<std::string, double> metrics;
    for (const auto& metric : recorder.metrics) metrics[metric.name] = metric.value;
    EXPECT_EQ(metrics.at("tokens_per_s"), 2);
    EXPECT_EQ(metrics.at("latency_saved"), 0.25);
    EXPECT_EQ(metrics.at("read_bandwidth"), 2);
}

}  // namespace
}  // namespace assay::lte
