// Costs against sums over loops, and the crossovers that the specification prints.
#include "impls/dr_post_training/policy/costs.hpp"

#include <gtest/gtest.h>

#include "impls/dr_post_training/plans/linear_maps.hpp"
#include "impls/model/named_models.hpp"
#include "suite/base/error.hpp"

namespace assay::dr_post_training {
namespace {

constexpr std::size_t direct = 0, gip = 1, pip = 2, compressed = 3;

TEST(DrCosts, CountEveryProduct) {
    const CostSettings s{
        .n = 3, .m = 2, .k = 1, .tokens = 5, .compressed_out = 2, .compressed_in = 3};
    const ScoringCosts costs = scoring_costs({{.out = 7, .in = 11, .count = 4}}, s);
    const LinearCosts& one = costs.maps.front();
    // A gradient of 7 x 11 for each of 5 rows out of 5 tokens, then 3 inner products of 77.
    EXPECT_EQ(one.flops[direct], 2 * 5 * 5 * 77 + 2 * 3 * 77);
    // 25 pairs of tokens for each of 6 pairs of rows: products of 7 and of 11, multiplied and
    // added.
    EXPECT_EQ(one.flops[gip], 6 * 25 * (14 + 22 + 2));
    EXPECT_EQ(one.flops[pip], 2 * 5 * 5 * 77 + 2 * 3 * 5 * 7);
    EXPECT_EQ(one.flops[compressed], 2 * 5 * 5 * (14 + 33 + 6) + 2 * 3 * 6);
    EXPECT_EQ(one.elements, (PerScoring{4 * 77, 2 * 6 * 25, 77 + 3 * 5 * 7, 5 * (5 * 5 + 6)}));
    for (std::size_t i = 0; i < scorings.size(); ++i) {
        EXPECT_EQ(costs.flops[i], 4 * one.flops[i]);
        EXPECT_EQ(costs.elements[i], one.elements[i]);
        const double saved = i == direct ? 1.0 / 3 : (1 - 1.0 / 3) / 3;
        EXPECT_DOUBLE_EQ(costs.overhead_flops[i],
                         4.0 / 9 - saved + costs.flops[i] / (6.0 * 3 * 5 * 4 * 77));
    }
    EXPECT_DOUBLE_EQ(costs.crossover_m, 77.0 / (5 * 18));
    EXPECT_DOUBLE_EQ(costs.crossover_tokens, std::sqrt(77));
}

TEST(DrCosts, TheBestIsExactAndWithinTheBudget) {
    const std::vector<LinearMap> maps{{.out = 64, .in = 64}};
    const auto best = [&](CostSettings s) { return scoring_costs(maps, s).maps.front().best; };
    CostSettings s{.n = 8, .m = 1, .k = 4, .tokens = 8};
    EXPECT_EQ(best(s), Scoring::gip);
    s.tokens = 512;
    EXPECT_EQ(best(s), Scoring::direct);  // long rows: one product less
    s.budget_bytes = 4 * 9 * 64 * 64 - 1;
    EXPECT_FALSE(best(s));  // pip holds more, gip far more
    s.budget_bytes = 4 * 9 * 64 * 64;
    EXPECT_EQ(best(s), Scoring::direct);
    s.tokens = 32;
    s.budget_bytes = 4 * (64 * 64 + 8 * 32 * 64);
    s.m = 100;
    EXPECT_EQ(best(s), Scoring::pip);
    s.budget_bytes = 0;
    EXPECT_FALSE(best(s));
}

TEST(DrCosts, OfEqualOnesGipThenPipThenDirect) {
    // T = I makes pip's last product as long as direct's.
    CostSettings s{.n = 8, .m = 4, .k = 4, .tokens = 16};
    const std::vector<LinearMap> square{{.out = 16, .in = 16}};
    const ScoringCosts costs = scoring_costs(square, s);
    ASSERT_EQ(costs.flops[direct], costs.flops[pip]);
    ASSERT_LT(costs.flops[pip], costs.flops[gip]);
    EXPECT_EQ(costs.maps.front().best, Scoring::pip);
}

TEST(DrCosts, CrossoversAreThoseOfThePaper) {
    struct Printed {
        const char* shape;
        double m, tokens;
    };
    for (const Printed& printed : {Printed{"smollm2-360m", 1.1, 1271},
                                   {"tinyllama-1.1b", 2.4, 2799},
                                   {"llama3.2-3b", 3.6, 4069},
                                   {"qwen3-1.7b", 2.5, 2854},
                                   {"qwen3-4b", 3.4, 4088},
                                   {"qwen3-8b", 5.0, 5747}}) {
        const ScoringCosts costs =
            scoring_costs(linear_maps_of(model::named_shape(printed.shape)), {});
        EXPECT_NEAR(costs.crossover_m, printed.m, 0.05) << printed.shape;
        EXPECT_NEAR(costs.crossover_tokens, printed.tokens, 1) << printed.shape;
    }
}

TEST(DrLinearMaps, AreReadAsTyped) {
    const auto maps = parse_linear_maps("576x192x30,7x9");
    ASSERT_EQ(maps.size(), 2U);
    EXPECT_EQ(maps[0].out, 576);
    EXPECT_EQ(maps[0].in, 192);
    EXPECT_EQ(maps[0].count, 30);
    EXPECT_EQ(maps[1].count, 1);
    EXPECT_EQ(parse_sizes("--compress", "64x32"), (std::pair{64.0, 32.0}));
    for (const char* text : {"", "7", "7x", "x7", "7x0", "0x7", "7x9x0", "7x9x1x1", "7x9,", "-7x9",
                             "7.5x9", "7 x9", "1000000000x2", "2x2x1000000000", "+7x9", "7X9",
                             "99999999999999999999x2", "nanx2", "1e3x2"})
        EXPECT_THROW(parse_linear_maps(text), UserError) << text;
    EXPECT_NO_THROW(parse_linear_maps("999999999x999999999x999999999"));
    for (const char* text : {"", "64", "64x", "64x64x64", "0x64"})
        EXPECT_THROW(parse_sizes("--compress", text), UserError) << text;
    EXPECT_THROW(parse_number("--eta", "1e-5x", "a number"), UserError);
    EXPECT_EQ(parse_number("--eta", "1e-5", "a number"), 1e-5);
}

TEST(DrLinearMaps, OfAModelAreItsBlocks) {
    const auto maps = linear_maps_of(model::named_shape("smollm2-135m"));
    ASSERT_EQ(maps.size(), 7U);
    double parameters = 0;
    for (const LinearMap& map : maps) {
        EXPECT_EQ(map.count, 30);
        parameters += map.count * map.out * map.in;
    }
    // 134,515,008 with the embedding of 49152 x 576 and 61 norms.
    EXPECT_EQ(parameters, 134515008.0 - 49152 * 576 - 61 * 576);
}

}  // namespace
}  // namespace assay::dr_post_training
