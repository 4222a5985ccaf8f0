// datasets/claims/lte.toml is complete: every figure and table of the paper, every claim with its
// source, no value where the paper prints none, reasons where nothing here can check it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "suite/claim/claim.hpp"
#include "tests/lte/claims/observations.hpp"

namespace assay::lte {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

bool ours(const Claim& claim) { return claim.id.rfind("lte/x_", 0) == 0; }

TEST(LteClaims, EveryFigureAndTableIsThere) {
    std::set<std::string> figures;
    for (const Claim& each : claims()) figures.insert(each.id.substr(0, each.id.find('/', 4)));
    for (int figure = 1; figure <= 16; ++figure)
        EXPECT_TRUE(figures.count("lte/fig" + std::to_string(figure))) << figure;
    for (const char* table : {"lte/tab1", "lte/tab2"}) EXPECT_TRUE(figures.count(table)) << table;
    for (const char* table : {"tab3", "tab4", "tab5", "tab6", "tab7"})
        EXPECT_TRUE(std::any_of(claims().begin(), claims().end(), [&](const Claim& each) {
            return each.id.rfind(std::string("lte/setup/") + table, 0) == 0;
        })) << table;
}

TEST(LteClaims, AsManyAsTheFileSays) {
    EXPECT_EQ(
        std::count_if(claims().begin(), claims().end(), [](const Claim& c) { return !ours(c); }),
        173);
}

TEST(LteClaims, EveryClaimNamesItsPlaceInThePaper) {
    for (const Claim& each : claims()) {
        EXPECT_EQ(each.source.rfind("arXiv 2402.06126v4, ", 0), 0u) << each.id;
        EXPECT_EQ(each.experiment.rfind("lte/", 0), 0u) << each.id;
        EXPECT_FALSE(each.value && each.unit.empty()) << each.id << " has a value without a unit";
        EXPECT_EQ(ours(each), each.says.rfind("Ours, not the paper's: ", 0) == 0) << each.id;
        EXPECT_EQ(ours(each), each.kind == ClaimKind::ours) << each.id;
    }
}

TEST(LteClaims, HeadlineNumbers) {
    EXPECT_EQ(claim("lte/headline/flops-low").value, 1.83);
    EXPECT_EQ(claim("lte/headline/flops-high").value, 2.59);
    EXPECT_EQ(claim("lte/headline/latency").value, 0.25);
    EXPECT_EQ(claim("lte/tab1/full").value, 12.06);
    EXPECT_EQ(claim("lte/tab1/lte/e2e").value, 4.65);
    EXPECT_EQ(claim("lte/tab2/lte").value, 5.95);
    EXPECT_EQ(claim("lte/tab2/wanda-wiki/unstructured").value, 6.87);
    EXPECT_EQ(claim("lte/fig16/roberta/average").value, 0.46);
}

TEST(LteClaims, WhatOnlyACurveShowsHasNoValue) {
    for (const Claim& each : claims())
        if (each.says.find(" only)") != std::string::npos) {
            EXPECT_EQ(each.value, std::nullopt) << each.id;
        }
    // Figures of which the paper prints no number at all. What a statement sets as a threshold is
    // no such number.
    for (const Claim& each : claims())
        for (const char* figure : {"fig2", "fig3", "fig6", "fig7", "fig8", "fig9", "fig11", "fig12",
                                   "fig13", "fig14", "fig15"})
            if (each.id.rfind(std::string("lte/") + figure + "/", 0) == 0 &&
                each.test.name.empty()) {
                EXPECT_EQ(each.value, std::nullopt) << each.id;
            }
}

std::vector<std::string> ids(bool (*wanted)(const Claim&)) {
    std::vector<std::string> found;
    for (const Claim& each : claims())
        if (wanted(each)) found.push_back(each.id);
    return found;
}

TEST(LteClaims, HeadlinesAreFew) {
    EXPECT_THAT(ids([](const Claim& c) { return c.headline; }),
                UnorderedElementsAre("lte/headline/flops-low", "lte/headline/flops-high",
                                     "lte/headline/latency", "lte/headline/best-everywhere"));
}

// The closed form of Table 1 against what it was printed from.
TEST(LteClaims, Table1IsArithmeticAndFitted) {
    for (const Claim& each : claims()) {
        const bool cell = each.id.rfind("lte/tab1/", 0) == 0 && !each.metric.empty();
        EXPECT_EQ(cell, each.kind == ClaimKind::arithmetic) << each.id;
        EXPECT_EQ(each.experiment == "lte/tab1", !each.fits.empty()) << each.id;
    }
}

// Whatever hangs on how our recipe trains, but not who is better at equal sparsity.
TEST(LteClaims, UnderReviewAreTheRecipesShapes) {
    EXPECT_THAT(ids([](const Claim& c) { return !c.review.empty(); }),
                UnorderedElementsAre("lte/fig2/one-expert", "lte/fig3/away", "lte/fig10/increasing",
                                     "lte/fig10/low", "lte/fig10/high", "lte/fig15/sublinear",
                                     "lte/fig16/differ", "lte/fig16/gpt-toy/falls",
                                     "lte/x_schedule/reached-0.25", "lte/x_schedule/reached-0.5",
                                     "lte/x_schedule/reached-0.75", "lte/x_schedule/reached-0.9"));
}

// Samples of before there was an axis "recipe" are of another one.
TEST(LteClaims, OlderSamplesDoNotCountForTheRecipeOfToday) {
    for (const char* id : {"lte/x_smollm2/vs-teal", "lte/x_smollm2/vs-cats", "lte/tab2/vs-wanda"}) {
        const auto judged = [&](const Case& at) {
            MadeUp made;
            made.sample("lte", at, 0.5, 20).sample(claim(id).of.variant, at, 0.5, 30);
            return check(claim(id), seen_for(claim(id), made), {}).verdict;
        };
        EXPECT_EQ(judged({{"sparsity", 0.5}, {"recipe", std::string("fast")}}),
                  ClaimVerdict::supported)
            << id;
        for (const Case& other :
             {Case{{"sparsity", 0.5}}, Case{{"sparsity", 0.5}, {"recipe", std::string("as_is")}}})
            EXPECT_EQ(judged(other), ClaimVerdict::not_run) << id;
    }
}

TEST(LteClaims, WhatNeedsOtherModelsSaysWhyAndWhatChecksIt) {
    for (const Claim& each : claims()) {
        EXPECT_TRUE(each.not_checkable.empty() || each.test.name.empty()) << each.id;
        if (each.not_checkable.rfind("needs ", 0) == 0) {
            EXPECT_TRUE(each.not_checkable.find("`assay ") != std::string::npos ||
                        each.not_checkable.find("no command") != std::string::npos)
                << each.id;
        }
    }
    for (const char* id : {"lte/fig5/mrpc/best", "lte/fig7/best", "lte/tab2/lte",
                           "lte/fig6/llama-7b/wikitext103", "lte/fig14/roberta-base/cola"})
        EXPECT_THAT(claim(id).not_checkable, HasSubstr("needs ")) << id;
}

TEST(LteClaims, TheBarrierExplains) {
    for (const char* id : {"lte/fig10/low", "lte/fig10/high"})
        EXPECT_THAT(claim(id).explained.value().because, HasSubstr("eta > 8 lambda")) << id;
}

TEST(LteClaims, RivalsAreComparedAtMeasuredSparsity) {
    // A lower perplexity at the sparsity asked for proves nothing; files are compared by speed.
    for (const Claim& each : claims())
        if (each.metric == "perplexity" && each.over) {
            const bool files = each.experiment == "lte/x_product";
            EXPECT_EQ(each.test.equal, files ? "latency_saved" : "ffn_sparsity") << each.id;
            EXPECT_TRUE(each.test.clearly) << each.id;
        }
}

}  // namespace
}  // namespace assay::lte
