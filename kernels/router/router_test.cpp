// The router of every back end: which experts, for which token, in which order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/element_types.hpp"
#include "kernels/reference/back_ends.hpp"
#include "kernels/reference/reference.hpp"

namespace assay::kernels {
namespace {

class Router : public reference::EachBackEnd {
  protected:
    struct Result {
        std::vector<std::uint8_t> mask;
        std::vector<std::int32_t> active;
    };
    Result route(AssayType type, int width, int experts, float threshold, int batch,
                 const std::vector<std::byte>& weights, const std::vector<float>& x) {
        const auto pairs = static_cast<std::size_t>(experts) * static_cast<std::size_t>(batch);
        Result result{std::vector<std::uint8_t>(pairs, 77),
                      std::vector<std::int32_t>(static_cast<std::size_t>(experts), -5)};
        std::int32_t count = -1;
        const AssayRouter call{width,
                               experts,
                               type,
                               weights.data(),
                               threshold,
                               batch,
                               x.data(),
                               result.mask.data(),
                               result.active.data(),
                               &count};
        EXPECT_EQ(kernels->router(context.get(), &call), ASSAY_OK);
        result.active.resize(static_cast<std::size_t>(count));
        return result;
    }
};
INSTANTIATE_TEST_SUITE_P(Cpu, Router, reference::every_back_end, reference::back_end_name);

TEST_P(Router, AgreesWithDoublePrecision) {
    std::mt19937_64 random(19);
    int on = 0, off = 0;
    for (int round = 0; round < 90; ++round) {
        const auto type = static_cast<AssayType>(round % 3);
        const int width = 1 + static_cast<int>(random() % 200);
        const int experts = 1 + static_cast<int>(random() % 90);
        const int batch = 1 + static_cast<int>(random() % 16);
        const float threshold = static_cast<float>(round % 5) - 2.0f;
        const auto weights = reference::random_weights(type, experts, width, random);
        const auto x = reference::random_floats(
            static_cast<std::size_t>(width) * static_cast<std::size_t>(batch), random);
        const Result result = route(type, width, experts, threshold, batch, weights, x);

        std::vector<std::int32_t> expected_union;
        for (int e = 0; e < experts; ++e) {
            bool any = false;
            for (int t = 0; t < batch; ++t) {
                const reference::Bounded logit = reference::dot(
                    type, weights.data() + static_cast<std::size_t>(e) * row_bytes(type, width),
                    x.data() + t * width, width);
                const int active = result.mask[static_cast<std::size_t>(t * experts + e)];
                ASSERT_TRUE(active == 0 || active == 1);
                any |= active == 1;
                if (std::abs(logit.value - threshold) > logit.error) {
                    ASSERT_EQ(active, logit.value > threshold) << logit.value;
                }
                ++(active ? on : off);
            }
            if (any) expected_union.push_back(e);
        }
        EXPECT_EQ(result.active, expected_union);
    }
    EXPECT_GT(on, 1000);
    EXPECT_GT(off, 1000);
}

TEST_P(Router, IsNotActiveAtTheThresholdItself) {
    const std::vector<float> rows{1, 0, 0, 2};  // logits 3 and 8
    std::vector<std::byte> weights(sizeof(float) * 4);
    std::copy_n(reinterpret_cast<const std::byte*>(rows.data()), weights.size(), weights.data());
    const std::vector<float> x{3, 4};
    EXPECT_EQ(route(ASSAY_F32, 2, 2, 3.0f, 1, weights, x).active, std::vector<std::int32_t>{1});
    EXPECT_EQ(route(ASSAY_F32, 2, 2, 2.9f, 1, weights, x).active,
              (std::vector<std::int32_t>{0, 1}));
    EXPECT_EQ(route(ASSAY_F32, 2, 2, 8.0f, 1, weights, x).active, std::vector<std::int32_t>{});
}

TEST_P(Router, ActivatesWhatIsNotANumber) {
    std::mt19937_64 random(1);
    const auto weights = reference::random_weights(ASSAY_F32, 9, 20, random);
    auto x = reference::random_floats(40, random);
    x[39] = std::numeric_limits<float>::quiet_NaN();
    const Result result = route(ASSAY_F32, 20, 9, 100.0f, 2, weights, x);
    EXPECT_EQ(result.active.size(), 9u);
    for (std::size_t e = 0; e < 9; ++e) {
        EXPECT_EQ(result.mask[e], 0);
        EXPECT_EQ(result.mask[9 + e], 1);
    }
}

TEST_P(Router, RefusesBadArguments) {
    float weights[4] = {}, x[4] = {};
    std::uint8_t mask[4];
    std::int32_t active[4], count = 3;
    const AssayRouter good{2, 2, ASSAY_F32, weights, 0, 1, x, mask, active, &count};
    const auto status_with = [&](auto change) {
        AssayRouter call = good;
        change(call);
        return kernels->router(context.get(), &call);
    };
    EXPECT_EQ(status_with([](AssayRouter& c) { c.width = 0; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](AssayRouter& c) { c.experts = 0; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](AssayRouter& c) { c.type = ASSAY_Q4_0; }), ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with([](AssayRouter& c) { c.batch = 17; }), ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with([](AssayRouter& c) { c.mask = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](AssayRouter& c) { c.active_count = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(count, 3);
    EXPECT_EQ(status_with([](AssayRouter&) {}), ASSAY_OK);
    EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace assay::kernels
