// Shapes of curves, on curves whose shape is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "impls/lte/claims/claim_checks.hpp"
#include "tests/lte/claims/observations.hpp"

namespace assay::lte {
namespace {

MadeUp speedups(const std::string& variant, double (*latency)(double)) {
    MadeUp made;
    for (const double sparsity : {0.0, 0.25, 0.5, 0.75, 0.9})
        for (const std::uint64_t seed : {1, 2})
            made.value(variant, {{"sparsity", sparsity}}, "speedup", {}, 1 / latency(sparsity),
                       seed);
    return made;
}

TEST(LteShapeChecks, NearlyLinearLatency) {
    const Claim claim = made_up_claim("speedup", "lte");
    const auto linear = speedups("lte", [](double s) { return 1.02 - 0.95 * s; });
    EXPECT_EQ(latency_nearly_linear(claim, linear.all()).verdict, ClaimVerdict::supported);
    EXPECT_NEAR(*latency_nearly_linear(claim, linear.all()).obtained, 0, 1e-9);
    const auto bent = speedups("lte", [](double s) { return 1 - s * s * s; });
    EXPECT_EQ(latency_nearly_linear(claim, bent.all()).verdict, ClaimVerdict::contradicted);
    const auto rising = speedups("lte", [](double s) { return 1 + 0.1 * s; });
    EXPECT_EQ(latency_nearly_linear(claim, rising.all()).verdict, ClaimVerdict::contradicted);
    MadeUp few;
    few.value("lte", {{"sparsity", 0.5}}, "speedup", {}, 2);
    EXPECT_EQ(latency_nearly_linear(claim, few.all()).verdict, ClaimVerdict::not_run);
}

TEST(LteShapeChecks, MostlySlower) {
    const Claim claim = made_up_claim("speedup", "index");
    const auto slow = speedups("index", [](double s) { return 2 - 1.5 * s; });  // faster from 2/3
    EXPECT_EQ(mostly_slower(claim, slow.all()).verdict, ClaimVerdict::supported);
    EXPECT_NEAR(*mostly_slower(claim, slow.all()).obtained, 0.6, 1e-12);
    const auto fast = speedups("index", [](double s) { return 1.1 - s; });
    EXPECT_EQ(mostly_slower(claim, fast.all()).verdict, ClaimVerdict::contradicted);
    // A case that surely is not slower counts before one that tells nothing.
    MadeUp two;
    for (const double sparsity : {0.0, 0.5})
        for (const std::uint64_t seed : {1, 2}) {
            const auto add = [&](const char* shape, double speedup) {
                two.value("index", {{"shape", std::string(shape)}, {"sparsity", sparsity}},
                          "speedup", {}, speedup, seed);
            };
            add("a noisy one", seed == 1 ? 0.5 : 1.2);
            add("fast", seed == 1 ? 1.2 : 1.21);
        }
    EXPECT_EQ(mostly_slower(claim, two.all()).verdict, ClaimVerdict::contradicted);
}

/// Two seeds, the second of which leaves out a little more.
MadeUp unions(double (*left_out)(double), double more = 1.001) {
    MadeUp made;
    for (const std::int64_t batch : {1, 2, 4, 8, 16})
        for (const std::uint64_t seed : {1, 2})
            made.value("lte", {{"sparsity", 0.9}}, "union_sparsity", {{"batch", batch}},
                       left_out(static_cast<double>(batch)) * (seed == 2 ? more : 1), seed);
    return made;
}

Claim unions_are_at_most(double value) {
    Claim claim = made_up_claim("union_sparsity", "lte");
    claim.value = value;
    return claim;
}

TEST(LteShapeChecks, UnionsAreSmallerThanThoseOfIndependentExperts) {
    // Half of the experts serve a token in five each, the others none: 0.1 are active.
    const auto shared = unions([](double b) { return 0.5 + 0.5 * std::pow(0.8, b); }, 1);
    const ClaimCheck result = grows_sublinearly(unions_are_at_most(0.8), shared.all());
    EXPECT_EQ(result.verdict, ClaimVerdict::supported) << result.reason;
    EXPECT_NEAR(*result.obtained, 0.5 * (1 - std::pow(0.8, 16)) / (1 - std::pow(0.9, 16)), 1e-9);
    EXPECT_EQ(grows_sublinearly(unions_are_at_most(0.5), shared.all()).verdict,
              ClaimVerdict::contradicted);
}

TEST(LteShapeChecks, UnionsThatBendAsAnyDoAreNotEnough) {
    const auto independent = unions([](double b) { return std::pow(0.9, b); }, 1);
    const ClaimCheck result = grows_sublinearly(unions_are_at_most(0.8), independent.all());
    EXPECT_EQ(result.verdict, ClaimVerdict::contradicted);
    EXPECT_NEAR(*result.obtained, 1, 1e-9);
    // Seeds that differ as much as the margin is away decide nothing.
    const auto open = unions([](double b) { return 0.5 + 0.5 * std::pow(0.8, b); }, 0.7);
    EXPECT_EQ(grows_sublinearly(unions_are_at_most(0.8), open.all()).verdict,
              ClaimVerdict::open_discrepancy);
}

TEST(LteShapeChecks, UnionsArePairedBySeed) {
    MadeUp made;
    const auto add = [&](std::int64_t batch, std::uint64_t seed, double left_out) {
        made.value("lte", {{"sparsity", 0.9}}, "union_sparsity", {{"batch", batch}}, left_out,
                   seed);
    };
    add(1, 1, 0.9);
    add(1, 2, 0.5);
    add(16, 2, 0.4);
    add(16, 3, 0.8);
    EXPECT_EQ(grows_sublinearly(unions_are_at_most(0.8), made.all()).verdict,
              ClaimVerdict::not_run);
    add(16, 1, 0.7);
    const ClaimCheck result = grows_sublinearly(unions_are_at_most(0.8), made.all());
    EXPECT_NEAR(*result.obtained,
                (0.3 / (1 - std::pow(0.9, 16)) + 0.6 / (1 - std::pow(0.5, 16))) / 2, 1e-9);
}

TEST(LteShapeChecks, UnionsNeedABatchOfOne) {
    MadeUp made;
    for (const std::int64_t batch : {2, 4, 8})
        made.value("lte", {{"sparsity", 0.9}}, "union_sparsity", {{"batch", batch}}, 0.8);
    EXPECT_EQ(grows_sublinearly(unions_are_at_most(0.8), made.all()).verdict,
              ClaimVerdict::not_run);
}

MadeUp layers(double slope, double seed_spread) {
    MadeUp made;
    for (const std::int64_t layer : {0, 1, 2, 3})
        for (const int seed : {1, 2})
            made.value("lte", {{"sparsity", 0.5}}, "layer_sparsity", {{"layer", layer}},
                       0.5 + slope * static_cast<double>(layer) + seed_spread * (seed - 1.5),
                       static_cast<std::uint64_t>(seed));
    return made;
}

TEST(LteShapeChecks, LayersDifferByMoreThanSeeds) {
    const Claim claim = made_up_claim("layer_sparsity", "lte");
    EXPECT_EQ(layers_differ(claim, layers(0.1, 0.05).all()).verdict, ClaimVerdict::supported);
    EXPECT_NEAR(*layers_differ(claim, layers(0.1, 0.05).all()).obtained, 6, 1e-9);
    EXPECT_EQ(layers_differ(claim, layers(0.01, 0.05).all()).verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(layers_differ(claim, layers(0, 0).all()).verdict, ClaimVerdict::contradicted);
}

TEST(LteShapeChecks, LayersOfOneSeedDecideNothing) {
    const Claim claim = made_up_claim("layer_sparsity", "lte");
    std::vector<Observation> one_seed;
    const MadeUp both = layers(0.1, 0.05);
    for (const Observation& o : both.all())
        if (o.seed == 1) one_seed.push_back(o);
    const ClaimCheck result = layers_differ(claim, one_seed);
    EXPECT_EQ(result.verdict, ClaimVerdict::not_run);
    EXPECT_THAT(result.reason, testing::HasSubstr("fewer than two seeds"));
    // The same seed again is no second one.
    const std::vector<Observation> once = one_seed;
    one_seed.insert(one_seed.end(), once.begin(), once.end());
    EXPECT_EQ(layers_differ(claim, one_seed).verdict, ClaimVerdict::not_run);
    // One place with a single seed is enough.
    std::vector<Observation> lacking = layers(0.1, 0.05).all();
    lacking.pop_back();
    EXPECT_EQ(layers_differ(claim, lacking).verdict, ClaimVerdict::not_run);
}

// Values of a walk: by place, then by seed.
ClaimCheck walked(CustomCheck check, const std::string& axis,
                  const std::vector<std::vector<double>>& places) {
    MadeUp made;
    for (std::size_t place = 0; place < places.size(); ++place)
        for (std::size_t seed = 0; seed < places[place].size(); ++seed)
            made.value("lte", {{axis, 0.25 * static_cast<double>(place)}}, "latency_ratio", {},
                       places[place][seed], seed + 1);
    return check(made_up_claim("latency_ratio", "lte"), made.all());
}

TEST(LteShapeChecks, EveryStepFallsInPairs) {
    // Seeds differ by more than a step, each falls at every one.
    const std::vector<std::vector<double>> falling{{1, 1.5, 2}, {0.9, 1.41, 1.9}, {0.7, 1.2, 1.7}};
    EXPECT_EQ(walked(falls_with_sparsity, "sparsity", falling).verdict, ClaimVerdict::supported);
    EXPECT_EQ(walked(rises_with_eta, "eta", falling).verdict, ClaimVerdict::contradicted);
    auto noisy = falling;
    noisy[2] = {0.7, 1.6, 1.7};
    const auto open = walked(falls_with_sparsity, "sparsity", noisy);
    EXPECT_EQ(open.verdict, ClaimVerdict::open_discrepancy);
    EXPECT_THAT(open.reason, testing::HasSubstr("interval spans the margin"));
    EXPECT_THAT(open.reason, testing::HasSubstr("from sparsity 0.25 to sparsity 0.5"));
    auto rising = falling;
    rising[2] = {1.1, 1.6, 2.1};
    EXPECT_EQ(walked(falls_with_sparsity, "sparsity", rising).verdict, ClaimVerdict::contradicted);
    EXPECT_NEAR(*walked(falls_with_sparsity, "sparsity", rising).obtained, 0.197, 1e-3);
    EXPECT_EQ(walked(falls_with_sparsity, "sparsity", {{1}, {0.5}}).verdict, ClaimVerdict::not_run);
    auto flat = falling;
    flat[2] = flat[1];
    for (const auto& check : {falls_with_sparsity, rises_with_eta})
        EXPECT_EQ(walked(check, check == rises_with_eta ? "eta" : "sparsity", flat).verdict,
                  ClaimVerdict::contradicted);
}

TEST(LteShapeChecks, FreerPatternsAreBetter) {
    Claim claim = made_up_claim("perplexity", "");
    MadeUp made;
    made.sample("wanda", {}, 0.5, 5.0).sample("wanda_2_4", {}, 0.5, 5.4);
    EXPECT_EQ(freer_patterns_better(claim, made.all()).verdict, ClaimVerdict::not_run);
    auto missing = made;
    made.sample("wanda_4_8", {}, 0.5, 5.2);
    EXPECT_EQ(freer_patterns_better(claim, made.all()).verdict, ClaimVerdict::supported);
    missing.sample("wanda_4_8", {}, 0.5, 5.6);
    EXPECT_EQ(freer_patterns_better(claim, missing.all()).verdict, ClaimVerdict::contradicted);
}

TEST(LteShapeChecks, ALineIsJudgedByEachSeed) {
    // The medians lie on a line, no seed does.
    MadeUp made;
    for (const double sparsity : {0.0, 0.25, 0.5, 0.75})
        for (const std::uint64_t seed : {1, 2, 3}) {
            const double bend = (static_cast<double>(seed) - 2) * (sparsity == 0.5 ? 0.4 : 0);
            made.value("lte", {{"sparsity", sparsity}}, "speedup", {}, 1 / (1 - sparsity + bend),
                       seed);
        }
    EXPECT_NE(latency_nearly_linear(made_up_claim("speedup", "lte"), made.all()).verdict,
              ClaimVerdict::supported);
}

}  // namespace
}  // namespace assay::lte
