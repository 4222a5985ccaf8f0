// What LTE's claims say of results that are made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/lte/claims/observations.hpp"

namespace assay::lte {
namespace {

using testing::StartsWith;

/// Of the claim with that id, whether it is under review or not.
ClaimCheck judged(const char* id, const MadeUp& made) {
    Claim asked = claim(id);
    asked.review.clear();
    return check(asked, seen_for(asked, made), {});
}
ClaimVerdict verdict(const char* id, const MadeUp& made) { return judged(id, made).verdict; }

Case at(double sparsity, const std::string& model = "gpt-toy") {
    return {{"model", model},
            {"corpus", std::string("bible-kjv")},
            {"recipe", std::string("fast")},
            {"sparsity", sparsity}};
}

constexpr const char* vs_deja_vu = "lte/fig6/gpt-toy/vs-deja-vu";

TEST(LteVerdicts, LowerPerplexityAtLowerSparsityIsNotBetter) {
    // Asked for 0.5 both, but LTE left much less out: on the rival's curve it is the worse one.
    MadeUp made;
    made.sample("lte", at(0.5), 0.3, 4.5).sample("lte", at(0.75), 0.7, 7.5);
    made.sample("deja_vu", at(0.25), 0.25, 4.0).sample("deja_vu", at(0.5), 0.5, 5.0);
    const ClaimCheck check = judged(vs_deja_vu, made);
    EXPECT_EQ(check.verdict, ClaimVerdict::contradicted) << check.reason;
    // Worst where the rival has its 5.0: halfway between LTE's points, whose geometric mean
    // is 5.81.
    EXPECT_NEAR(check.obtained.value(), 5.0 / std::sqrt(4.5 * 7.5), 1e-9);
}

TEST(LteVerdicts, HigherPerplexityAtHigherSparsityMayBeBetter) {
    MadeUp made;
    made.sample("lte", at(0.5), 0.6, 5.2).sample("lte", at(0.75), 0.85, 6.5);
    made.sample("deja_vu", at(0.5), 0.5, 5.0).sample("deja_vu", at(0.75), 0.75, 7.0);
    EXPECT_EQ(verdict(vs_deja_vu, made), ClaimVerdict::supported);
    // Of another model, or another recipe, it says nothing.
    EXPECT_EQ(verdict("lte/fig6/llama-toy/vs-deja-vu", made), ClaimVerdict::not_run);
    EXPECT_EQ(verdict("lte/fig6/gpt-toy/vs-moefication", made), ClaimVerdict::not_run);
}

TEST(LteVerdicts, AnIntervalThatSpansEqualityIsNoVerdict) {
    MadeUp made;
    for (const auto& [seed, ratio] : {std::pair{1, 0.9}, {2, 1.08}, {3, 0.95}}) {
        made.sample("lte", at(0.5), 0.5, 5.0 * ratio, static_cast<std::uint64_t>(seed));
        made.sample("deja_vu", at(0.5), 0.5, 5.0, static_cast<std::uint64_t>(seed));
    }
    EXPECT_EQ(verdict(vs_deja_vu, made), ClaimVerdict::undecided);
    MadeUp one_seed;
    one_seed.sample("lte", at(0.5), 0.5, 4.0, 1).sample("deja_vu", at(0.5), 0.5, 5.0, 1);
    EXPECT_EQ(verdict(vs_deja_vu, one_seed), ClaimVerdict::undecided);
}

TEST(LteVerdicts, AlikeWithinTheTolerance) {
    for (const auto& [perplexity, expected] : {std::pair{5.09, ClaimVerdict::supported},
                                               {4.91, ClaimVerdict::supported},
                                               {5.11, ClaimVerdict::contradicted},
                                               {4.85, ClaimVerdict::contradicted}}) {
        MadeUp made;
        made.sample("kmeans", at(0.5), 0.5, perplexity).sample("coactivation", at(0.5), 0.5, 5.0);
        EXPECT_EQ(verdict("lte/fig9/alike", made), expected) << perplexity;
    }
}

TEST(LteVerdicts, SidesMayDifferByAWeight) {
    const auto with = [](double none, double half, double one) {
        MadeUp made;
        for (const auto& [lambda, perplexity] : {std::pair{0.0, none}, {0.5, half}, {1.0, one}}) {
            Case here = at(0.5);
            here["lambda"] = lambda;
            made.sample("lte", here, 0.5, perplexity);
        }
        return made;
    };
    EXPECT_EQ(verdict("lte/fig11/half-better", with(6, 5, 5)), ClaimVerdict::supported);
    EXPECT_EQ(verdict("lte/fig11/half-better", with(4.9, 5, 5)), ClaimVerdict::contradicted);
    EXPECT_EQ(verdict("lte/fig11/one-no-better", with(6, 5, 6)), ClaimVerdict::supported);
    EXPECT_EQ(verdict("lte/fig11/one-no-better", with(6, 5, 4.91)), ClaimVerdict::supported);
    EXPECT_EQ(verdict("lte/fig11/one-no-better", with(6, 5, 4.89)), ClaimVerdict::contradicted);
}

TEST(LteVerdicts, FreerPatternsAreBetter) {
    MadeUp made;
    made.sample("wanda", at(0.5), 0.5, 5.0).sample("wanda_2_4", at(0.5), 0.5, 5.4);
    EXPECT_EQ(verdict("lte/tab2/wanda-order", made), ClaimVerdict::not_run);
    MadeUp other = made;
    made.sample("wanda_4_8", at(0.5), 0.5, 5.2);
    EXPECT_EQ(verdict("lte/tab2/wanda-order", made), ClaimVerdict::supported);
    other.sample("wanda_4_8", at(0.5), 0.5, 5.6);
    EXPECT_EQ(verdict("lte/tab2/wanda-order", other), ClaimVerdict::contradicted);
}

// The rival leaves out more and saves less: at equal latency it is the worse one.
TEST(LteVerdicts, FilesAreComparedAtEqualLatency) {
    MadeUp made;
    const auto add = [&](const char* variant, double sparsity, double saved, double perplexity) {
        for (const std::uint64_t seed : {1, 2}) {
            made.value(variant, at(0.5), "latency_saved", {}, saved, seed);
            made.sample(variant, at(0.5), sparsity, perplexity, seed);
        }
    };
    add("lte", 0.4, 0.3, 5.0);
    add("cats", 0.6, 0.2, 5.5);
    EXPECT_EQ(verdict("lte/x_product/vs-cats", made), ClaimVerdict::supported);
}

/// Speedups of indexing over sparsity, alike in three seeds.
MadeUp indexed(const std::vector<double>& speedups, const char* dtype = "bf16") {
    MadeUp made;
    const double sparsities[] = {0.0, 0.25, 0.5, 0.75, 0.9};
    for (std::size_t i = 0; i < speedups.size(); ++i)
        for (const std::uint64_t seed : {1, 2, 3})
            made.value("index",
                       {{"shape", std::string("llama2-7b")},
                        {"dtype", std::string(dtype)},
                        {"sparsity", sparsities[i]}},
                       "speedup", {}, speedups[i] + 0.001 * static_cast<double>(seed), seed);
    return made;
}

TEST(LteVerdicts, IndexingIsSlowerAtMostSparsities) {
    constexpr const char* id = "lte/fig8/index-slower";
    const auto slow = judged(id, indexed({0.4, 0.5, 0.8, 1.5, 3}));
    EXPECT_EQ(slow.verdict, ClaimVerdict::supported) << slow.reason;
    EXPECT_NEAR(slow.obtained.value(), 0.802, 1e-9);
    EXPECT_EQ(verdict(id, indexed({0.4, 0.5, 1.1, 1.5, 3})), ClaimVerdict::contradicted);
    EXPECT_EQ(verdict(id, indexed({0.4, 0.5, 0.8, 1.5})), ClaimVerdict::not_run);
    // Each type by itself.
    EXPECT_EQ(verdict(id, indexed({0.4, 0.5, 0.8, 1.5, 3}, "f16")), ClaimVerdict::not_run);
    EXPECT_EQ(verdict("lte/fig8/index-slower-f16", indexed({0.4, 0.5, 0.8, 1.5, 3}, "f16")),
              ClaimVerdict::supported);
}

TEST(LteVerdicts, EveryStepOfTheTimePerTokenFalls) {
    const auto decoded = [](const std::vector<double>& ratios) {
        MadeUp made;
        for (std::size_t i = 0; i < ratios.size(); ++i)
            for (const std::uint64_t seed : {1, 2, 3})  // seeds differ by more than a step
                made.value("lte", {{"sparsity", 0.25 * static_cast<double>(i)}}, "latency_ratio",
                           {}, ratios[i] + 0.5 * static_cast<double>(seed), seed);
        return made;
    };
    EXPECT_EQ(verdict("lte/fig8b/falls", decoded({1, 0.9, 0.7})), ClaimVerdict::supported);
    const auto rises = judged("lte/fig8b/falls", decoded({1, 0.9, 0.95}));
    EXPECT_EQ(rises.verdict, ClaimVerdict::contradicted);
    EXPECT_NEAR(rises.obtained.value(), 0.05, 1e-9);
    EXPECT_EQ(verdict("lte/fig8b/falls", decoded({1, 1, 0.9})), ClaimVerdict::contradicted);
}

MadeUp values(const char* metric, const std::vector<double>& by_seed, const Labels& labels = {}) {
    MadeUp made;
    for (std::size_t seed = 0; seed < by_seed.size(); ++seed)
        made.value("lte", at(0.5), metric, labels, by_seed[seed], seed + 1);
    return made;
}

TEST(LteVerdicts, UnionsThatBendAsAnyDoAreNotEnough) {
    const auto unions = [](const std::vector<double>& ratios, std::int64_t batch = 16) {
        return verdict("lte/fig15/sublinear",
                       values("union_over_independent", ratios, {{"batch", batch}}));
    };
    EXPECT_EQ(unions({0.6, 0.61, 0.62}), ClaimVerdict::supported);
    EXPECT_EQ(unions({0.98, 0.99, 1}), ClaimVerdict::contradicted);
    EXPECT_EQ(unions({0.6, 0.9, 0.7}), ClaimVerdict::undecided);
    EXPECT_EQ(unions({0.6, 0.61, 0.62}, 8), ClaimVerdict::not_run);
}

TEST(LteVerdicts, LayersDifferByMoreThanTheThreshold) {
    const double threshold = claim("lte/fig16/differ").value.value();
    const auto ranges = [&](double more) {
        return verdict("lte/fig16/differ",
                       values("layer_range",
                              {threshold + more, threshold + 1.1 * more, threshold + 0.9 * more}));
    };
    EXPECT_EQ(ranges(0.1), ClaimVerdict::supported);
    EXPECT_EQ(ranges(-0.1), ClaimVerdict::contradicted);
}

// A review takes a verdict back, either way.
TEST(LteVerdicts, UnderReviewNothingIsDecided) {
    const Claim& away = claim("lte/fig3/away");
    for (const double share : {0.001, 0.3}) {
        MadeUp made;
        for (const std::uint64_t seed : {1, 2, 3}) {
            Case here = at(0.5);
            here["lambda"] = 0.5;
            made.value("lte", here, "near_threshold", {}, share, seed);
        }
        EXPECT_NE(verdict("lte/fig3/away", made), ClaimVerdict::undecided) << share;
        const ClaimCheck reviewed = check(away, seen_for(away, made), {});
        EXPECT_EQ(reviewed.verdict, ClaimVerdict::undecided) << share;
        EXPECT_THAT(reviewed.reason, StartsWith("recipe under review"));
    }
}

TEST(LteVerdicts, EtaRaisesSparsityAtEveryStep) {
    const auto reached = [](const std::vector<double>& sparsities) {
        MadeUp made;
        for (std::size_t i = 0; i < sparsities.size(); ++i)
            for (const std::uint64_t seed : {1, 2, 3})
                made.value("lte_published", {{"eta", static_cast<double>(i)}}, "ffn_sparsity", {},
                           sparsities[i] + 0.01 * static_cast<double>(seed), seed);
        return made;
    };
    EXPECT_EQ(verdict("lte/fig10/increasing", reached({0.2, 0.5, 0.9})), ClaimVerdict::supported);
    EXPECT_EQ(verdict("lte/fig10/increasing", reached({0.5, 0.5, 0.5})),
              ClaimVerdict::contradicted);
    const ClaimCheck low = judged("lte/fig10/low", reached({0.5, 0.5, 0.5}));
    EXPECT_EQ(low.verdict, ClaimVerdict::contradicted) << low.reason;
    EXPECT_TRUE(is_explained(claim("lte/fig10/low"), low)) << *low.obtained;
}

}  // namespace
}  // namespace assay::lte
