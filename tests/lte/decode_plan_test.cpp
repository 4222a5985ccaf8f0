// What leaving experts out saves, against the roofline worked out by hand for a LLaMA-7B shape.
#include "impls/lte/decode_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "impls/model/named_models.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

DecodePlanRequest request(const std::string& shape, std::vector<double> sparsities,
                          nn::TensorType type = nn::TensorType::bf16) {
    DecodePlanRequest request;
    request.model = model::stored_shape(model::named_shape(shape), type);
    request.sparsities = std::move(sparsities);
    request.context = 0;
    return request;
}

/// Only its bandwidth counts: FLOPs are free.
DeviceProfile device(double bytes_per_s, double flops_per_s = 1e30) {
    DeviceProfile device;
    device.matmul_flops.value = flops_per_s;
    device.matmul_efficiency.value = 0.5;
    device.memory_bandwidth.value = bytes_per_s;
    device.memory_efficiency.value = 0.5;
    return device;
}

double part(const DecodePoint& point, const std::string& name, double model::PartWork::*member) {
    for (const model::PartWork& each : point.parts)
        if (each.part == name) return each.*member;
    throw std::out_of_range(name);
}

TEST(LteDecodePlan, BytesOfALlama7bShape) {
    DecodePlanRequest asked = request("llama2-7b", {0.5, 0.75, 0.9});
    asked.device = device(2 * 4.3e12);  // reaches 4.3 TB/s
    const DecodePlan plan = plan_decode(asked);
    EXPECT_NEAR(plan.dense.bytes() / 1e9, 13.21, 0.01);
    EXPECT_NEAR(part(plan.dense, "ffn", &model::PartWork::bytes) / 32 / 1e6, 270.5, 0.05);
    EXPECT_EQ(part(plan.dense, "router", &model::PartWork::bytes), 0);
    EXPECT_NEAR(part(plan.points[0], "router", &model::PartWork::bytes) / 32 / 1e6, 2.8, 0.05);
    EXPECT_NEAR(1e3 * *plan.dense.expected_s, 3.07, 0.01);
    // One layer's networks and router at half sparsity: 32.1 µs.
    const DecodePoint& half = plan.points[0];
    EXPECT_NEAR((part(half, "ffn", &model::PartWork::bytes) +
                 part(half, "router", &model::PartWork::bytes)) /
                    32 / 4.3e12 * 1e6,
                32.1, 0.05);
    // 32.8, 49 and 59 % of the bytes without the routers, which cost 0.7 %.
    EXPECT_NEAR(plan.points[0].saved_bytes, 0.328 - 0.0068, 0.0005);
    EXPECT_NEAR(plan.points[1].saved_bytes, 0.49 - 0.0068, 0.003);
    EXPECT_NEAR(plan.points[2].saved_bytes, 0.59 - 0.0068, 0.003);
}

TEST(LteDecodePlan, RoutersWithoutSparsityCostMoreThanDense) {
    const DecodePlan plan = plan_decode(request("llama2-7b", {0}));
    EXPECT_LT(plan.points[0].saved_bytes, 0);
    EXPECT_LT(plan.points[0].saved_flops, 0);
    EXPECT_LT(plan.points[0].saved_layers_flops, 0);
    EXPECT_FALSE(plan.points[0].expected_s);
}

// Table 1 leaves attention over the cache and the output matrix out; a token pays for both.
TEST(LteDecodePlan, WhatIsSavedOfAllIsLessThanOfTable1sShare) {
    DecodePlanRequest asked = request("smollm2-135m", {0.5});
    asked.context = 512;
    const DecodePlan plan = plan_decode(asked);
    const DecodePoint& half = plan.points[0];
    double dense = 0, sparse = 0;
    for (const model::PartWork& each : plan.dense.parts) dense += each.flops;
    for (const model::PartWork& each : half.parts) sparse += each.flops;
    EXPECT_DOUBLE_EQ(half.saved_flops, 1 - sparse / dense);
    EXPECT_NEAR(half.saved_layers_flops, 0.367, 0.001);
    EXPECT_NEAR(half.saved_flops, 0.256, 0.001);
}

TEST(LteDecodePlan, TheLongerOfBytesAndFlopsCounts) {
    DecodePlanRequest asked = request("gpt2", {0.5});
    asked.device = device(1e30, 2e9);  // reaches 1 GFLOP/s, memory free
    const DecodePlan plan = plan_decode(asked);
    EXPECT_NEAR(*plan.dense.expected_s, plan.dense.flops() / 1e9, 1e-9);
    asked.device = device(2e9);
    EXPECT_NEAR(*plan_decode(asked).dense.expected_s, plan.dense.bytes() / 1e9, 1e-9);
    // Both matter for different parts: never faster than either alone.
    asked.device = device(2e9, 2e9);
    EXPECT_GE(*plan_decode(asked).dense.expected_s,
              std::max(plan.dense.flops(), plan.dense.bytes()) / 1e9);
}

TEST(LteDecodePlan, ABatchActivatesTheUnion) {
    DecodePlanRequest asked = request("llama2-7b", {0.5});
    asked.batch = 4;
    const DecodePlan four = plan_decode(asked), one = plan_decode(request("llama2-7b", {0.5}));
    EXPECT_DOUBLE_EQ(four.points[0].union_sparsity, 0.0625);
    EXPECT_DOUBLE_EQ(part(four.points[0], "ffn", &model::PartWork::bytes),
                     part(four.dense, "ffn", &model::PartWork::bytes) * 0.9375);
    // Each token computes its own experts only.
    EXPECT_DOUBLE_EQ(four.points[0].flops(), 4 * one.points[0].flops());
    EXPECT_LT(four.points[0].saved_bytes, one.points[0].saved_bytes);
}

TEST(LteDecodePlan, TheCacheGrowsWithContextAndBatch) {
    DecodePlanRequest asked = request("llama2-7b", {0.5});
    asked.context = 999;
    asked.batch = 2;
    const DecodePlan plan = plan_decode(asked);
    // Keys and values of 1,000 positions, 4,096 wide, 16 bits, 32 layers, 2 sequences.
    EXPECT_EQ(part(plan.dense, "cache", &model::PartWork::bytes), 2.0 * 32 * 2 * 4096 * 1000 * 2);
    EXPECT_EQ(part(plan.dense, "cache", &model::PartWork::flops), 2.0 * 32 * 4 * 4096 * 1000);
}

TEST(LteDecodePlan, RefusesWhatMakesNoSense) {
    for (const double sparsity : {-0.1, 1.0, 1.5, std::nan("")})
        EXPECT_THROW(plan_decode(request("gpt2", {sparsity})), UserError) << sparsity;
    EXPECT_THROW(plan_decode(request("gpt2", {})), UserError);
    DecodePlanRequest asked = request("gpt2", {0.5});
    asked.batch = 0;
    EXPECT_THROW(plan_decode(asked), UserError);
    asked.batch = 1;
    asked.context = 1024;  // GPT-2 reaches 1,024 tokens with the one it reads
    EXPECT_THROW(plan_decode(asked), UserError);
    asked.context = 1023;
    EXPECT_NO_THROW(plan_decode(asked));
    nn::DecoderConfig uneven = model::named_shape("gpt2");
    uneven.hidden = 100;
    asked.model = model::stored_shape(uneven, nn::TensorType::bf16);
    EXPECT_THROW(plan_decode(asked), UserError);
}

TEST(LteDecodePlan, ExpertsOfThePapersModels) {
    EXPECT_EQ(experts_per_layer(model::named_shape("llama-7b")), 344);
    EXPECT_EQ(experts_per_layer(model::named_shape("gpt2-medium")), 128);
}

}  // namespace
}  // namespace assay::lte
