// The check of fig8/nearly-linear, on curves whose shape is known.
#include "impls/lte/claims/latency_nearly_linear.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lte/claims/observations.hpp"

namespace assay::lte {
namespace {

using testing::HasSubstr;

/// Speedups of a block whose latency, in shares of the dense one, is this; `seeds` of them.
ClaimCheck line(double (*latency)(double sparsity, std::uint64_t seed), std::uint64_t seeds = 3,
                const std::vector<double>& sparsities = {0.0, 0.25, 0.5, 0.75, 0.9}) {
    MadeUp made;
    for (const double sparsity : sparsities)
        for (std::uint64_t seed = 1; seed <= seeds; ++seed)
            made.value("lte",
                       {{"shape", std::string("llama2-7b")},
                        {"dtype", std::string("bf16")},
                        {"sparsity", sparsity}},
                       "speedup", {}, 1 / latency(sparsity, seed), seed);
    const Claim& asked = claim("lte/fig8/nearly-linear");
    return check(asked, seen_for(asked, made), {{"latency_nearly_linear", latency_nearly_linear}});
}

TEST(LatencyNearlyLinear, HoldsOnALineThatFalls) {
    const ClaimCheck check = line([](double s, std::uint64_t) { return 1.02 - 0.95 * s; });
    EXPECT_EQ(check.verdict, ClaimVerdict::supported) << check.reason;
    EXPECT_NEAR(check.obtained.value(), 0, 1e-9);
    EXPECT_THAT(check.reason, HasSubstr("dtype=bf16"));
}

TEST(LatencyNearlyLinear, FailsOnACurveAndOnALineThatRises) {
    const auto bent = line([](double s, std::uint64_t) { return 1 - s * s * s; });
    EXPECT_EQ(bent.verdict, ClaimVerdict::contradicted) << bent.reason;
    const auto rising = line([](double s, std::uint64_t) { return 1 + 0.1 * s; });
    EXPECT_EQ(rising.verdict, ClaimVerdict::contradicted);
    EXPECT_THAT(rising.reason, HasSubstr("does not fall"));
}

TEST(LatencyNearlyLinear, ALineIsJudgedByEachSeed) {
    // The medians lie on a line, two seeds of three do not.
    const auto check = line([](double s, std::uint64_t seed) {
        return 1 - s + (static_cast<double>(seed) - 2) * (s == 0.5 ? 0.4 : 0);
    });
    EXPECT_EQ(check.verdict, ClaimVerdict::undecided) << check.reason;
}

TEST(LatencyNearlyLinear, WantsThreeSeedsAndFourSparsities) {
    const auto fallen = [](double s, std::uint64_t) { return 1 - s; };
    const ClaimCheck two = line(fallen, 2);
    EXPECT_EQ(two.verdict, ClaimVerdict::undecided);
    EXPECT_THAT(two.reason, HasSubstr("3 are wanted"));
    EXPECT_EQ(line(fallen, 3, {0.0, 0.5, 0.9}).verdict, ClaimVerdict::not_run);
}

}  // namespace
}  // namespace assay::lte
