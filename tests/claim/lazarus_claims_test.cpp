// datasets/claims/lazarus.toml is complete: every figure and table of the paper, every claim with
// its source, what is known of those that do not hold, what a fit determines.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "suite/claim/claim.hpp"

namespace {

const std::vector<assay::Claim>& claims() {
    static const auto read =
        assay::read_claims(std::filesystem::path(ASSAY_TEST_DATASETS) / "claims/lazarus.toml");
    return read;
}

const assay::Claim& claim(std::string_view id) {
    const auto found =
        std::find_if(claims().begin(), claims().end(), [&](const auto& c) { return c.id == id; });
    if (found == claims().end()) throw std::out_of_range(std::string(id));
    return *found;
}

}  // namespace

TEST(LazarusClaims, EveryFigureAndTableIsThere) {
    // By id: what a figure says may be answered by another figure's experiment.
    std::set<std::string> figures;
    for (const auto& each : claims()) figures.insert(each.id.substr(0, each.id.find('/', 8)));
    for (const char* figure :
         {"fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "fig9", "fig10a",
          "fig10b", "fig11", "fig12", "fig13", "fig14", "tab1", "tab2", "x_theorem1", "x_live"})
        EXPECT_TRUE(figures.count(std::string("lazarus/") + figure)) << figure;
}

TEST(LazarusClaims, EveryClaimNamesItsPlaceInThePaper) {
    for (const auto& each : claims()) {
        EXPECT_EQ(each.source.rfind("arXiv 2407.04656v2, ", 0), 0u) << each.id;
        EXPECT_EQ(each.experiment.rfind("lazarus/", 0), 0u) << each.id;
        EXPECT_FALSE(each.value && each.unit.empty()) << each.id << " has a value without a unit";
    }
}

TEST(LazarusClaims, HeadlineNumbers) {
    EXPECT_EQ(claim("lazarus/fig6/gpt-l/vs-ds").value, 5.7);
    EXPECT_EQ(claim("lazarus/fig9/gpt-l/vs-ds").value, 3.4);
    EXPECT_EQ(claim("lazarus/fig8/gpt-l/200/mro-4").value, 0.41);
    EXPECT_EQ(claim("lazarus/tab2/gpt-l/200/experts").value, 160);
    EXPECT_EQ(claim("lazarus/fig12/gpt-l/vs-tutel").value, 4.0);
    EXPECT_EQ(claim("lazarus/fig13a/0.15/ds").value, 14.5);
}

TEST(LazarusClaims, WhatOnlyABarShowsHasNoValue) {
    for (const auto& each : claims())
        EXPECT_FALSE(each.value && each.says.find("(bar only)") != std::string::npos) << each.id;
    EXPECT_EQ(claim("lazarus/fig6/gpt-m/vs-ds").value, std::nullopt);
    EXPECT_EQ(claim("lazarus/fig10a/even-load").value, std::nullopt);
    // A threshold that a sentence without a number leaves to us is said to be ours.
    EXPECT_NE(claim("lazarus/fig10a/lazarus-flat").says.find("our reading"), std::string::npos);
}

TEST(LazarusClaims, HeadlinesAreThoseOfTheAbstract) {
    std::set<std::string> headlines;
    for (const auto& each : claims())
        if (each.headline) headlines.insert(each.id);
    EXPECT_EQ(headlines,
              (std::set<std::string>{"lazarus/fig6/gpt-l/vs-ds", "lazarus/fig9/gpt-l/vs-ds",
                                     "lazarus/x_theorem1/optimal"}));
}

TEST(LazarusClaims, ExplanationsNameTheValueThatTheyExplain) {
    EXPECT_NE(claim("lazarus/x_theorem1/optimal").explained->because.find("2/3"),
              std::string::npos);
    EXPECT_EQ(claim("lazarus/x_theorem1/optimal").explained->obtained, 19);
    EXPECT_EQ(claim("lazarus/x_theorem1/fewer-than-f").explained->obtained, 0.8);
    EXPECT_NEAR(claim("lazarus/fig8/gpt-l/200/mro-4").explained->obtained, 129.0 / 210, 1e-12);
}

// What was rebuilt from the statement, chosen because it then holds, or made of the paper's own
// numbers: none of it is evidence when it holds.
TEST(LazarusClaims, WhatTheStatementItselfGaveIsNoEvidence) {
    std::set<std::string> from;
    for (const auto& each : claims())
        for (const auto& fit : each.fits) {
            EXPECT_FALSE(fit.because.empty()) << fit.of;
            from.insert(fit.from.begin(), fit.from.end());
        }
    EXPECT_EQ(from,
              (std::set<std::string>{
                  "lazarus/fig4/plan-a", "lazarus/fig5/case-2", "lazarus/fig5/case-2-probability",
                  "lazarus/fig8/gpt-l/200/spread-4", "lazarus/fig8/gpt-l/compact-never",
                  "lazarus/fig10b/2to1/4-slots", "lazarus/fig10b/4to1/4-slots",
                  "lazarus/fig9/lazarus-restarts", "lazarus/fig9/lazarus-restart-at",
                  "lazarus/fig11/lazarus-overhead", "lazarus/tab1/gpt-s/parameters",
                  "lazarus/tab1/gpt-m/parameters", "lazarus/tab1/gpt-l/parameters"}));
}

TEST(LazarusClaims, OursAndArithmeticAreMarked) {
    for (const auto& each : claims()) {
        EXPECT_EQ(each.kind == assay::ClaimKind::ours, each.says.starts_with("Ours")) << each.id;
        const std::string figure = each.id.substr(0, each.id.find('/', 8));
        const bool closed_form = figure == "lazarus/fig4" || figure == "lazarus/fig5" ||
                                 figure == "lazarus/tab1" || figure == "lazarus/x_state_size";
        if (each.kind == assay::ClaimKind::setting) continue;
        EXPECT_EQ(each.kind == assay::ClaimKind::arithmetic, closed_form) << each.id;
    }
}

TEST(LazarusClaims, RoutingClaimsNeedTheRealTrace) {
    for (const auto& each : claims())
        if (each.experiment == "lazarus/fig8") {
            EXPECT_EQ(each.needs, std::vector<std::string>{"trace:smartmoe"}) << each.id;
            EXPECT_TRUE(each.of.where.count("trace")) << each.id;
        }
}
