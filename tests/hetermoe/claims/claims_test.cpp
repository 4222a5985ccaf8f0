// The claim file, over results that are made up: which of them a statement looks at, and what the
// two calibrations make of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "impls/hetermoe/register.hpp"

namespace assay::hetermoe {
namespace {

class HetermoeClaims : public ::testing::Test {
  protected:
    HetermoeClaims() {
        setenv("ASSAY_DATASETS", ASSAY_TEST_DATASETS, 1);
        claims_ = make_system().claims;
    }

    // Of HeterMoE's throughput; the other arm's is 10.
    void see(const char* other, Case at, double ratio) {
        for (const bool ours : {true, false}) {
            Observation one;
            one.variant = ours ? "hetermoe" : other;
            one.axes = at;
            one.provenance = Provenance::simulated;
            one.metric = "tokens_per_s";
            one.value = ours ? 10 * ratio : 10;
            one.seed = 1;
            seen_.push_back(std::move(one));
        }
    }

    ClaimCheck checked(const std::string& id) {
        const auto claim = std::find_if(claims_.begin(), claims_.end(),
                                        [&](const Claim& one) { return one.id == id; });
        EXPECT_NE(claim, claims_.end()) << id;
        if (claim == claims_.end()) return {};
        for (Observation& one : seen_) one.experiment = claim->experiment;
        return check(*claim, seen_, {});
    }

    std::vector<Claim> claims_;
    std::vector<Observation> seen_;
};

const std::vector<std::string> calibrations{"sheet", "anchored"};

Case of(const std::string& calibration, const std::string& panel, std::int64_t sequence) {
    return {{"calibration", calibration}, {"panel", panel}, {"sequence", sequence}};
}

TEST_F(HetermoeClaims, AnAnchorThatDeterminesARatioIsNoEvidenceForIt) {
    see("ep", of("anchored", "d2-o3", 32), 2.2);
    EXPECT_EQ(checked("hetermoe/fig7/ep/32k/d2").verdict, ClaimVerdict::undecided);  // one of two
    see("ep", of("sheet", "d2-o3", 32), 1.6);
    const ClaimCheck fails = checked("hetermoe/fig7/ep/32k/d2");
    EXPECT_EQ(fails.verdict, ClaimVerdict::calibrated);
    EXPECT_DOUBLE_EQ(*fails.obtained, 2.2) << "of the end that was fitted";
    seen_.resize(2);
    see("ep", of("sheet", "d2-o3", 32), 2.3);
    EXPECT_EQ(checked("hetermoe/fig7/ep/32k/d2").verdict, ClaimVerdict::supported);
}

TEST_F(HetermoeClaims, AnAverageThatContainsSuchARatioIsCalibratedToo) {
    for (const std::string& calibration : calibrations)
        for (const char* panel : {"d1-o1", "w1-o1", "w2-o2", "d2-o3"})
            see("ep", of(calibration, panel, 32), calibration == "sheet" ? 1.2 : 1.9);
    EXPECT_EQ(checked("hetermoe/fig7/ep/32k/average").verdict, ClaimVerdict::calibrated);
    seen_.resize(seen_.size() - 2);  // a panel less
    EXPECT_EQ(checked("hetermoe/fig7/ep/32k/average").verdict, ClaimVerdict::undecided);
}

TEST_F(HetermoeClaims, CasesWithFlowsAreNotOfTheFigure) {
    for (const std::string& calibration : calibrations) {
        see("ep", of(calibration, "d2-o3", 32), 2.3);
        Case flows = of(calibration, "d2-o3", 32);
        flows["network"] = std::string("flows");
        see("ep", flows, 9);
    }
    EXPECT_EQ(checked("hetermoe/fig7/ep/32k/d2").verdict, ClaimVerdict::supported);
}

TEST_F(HetermoeClaims, TheLargestGainOverPipelinesIsNotLookedForWhereThePaperHasLess) {
    for (const std::string& calibration : calibrations)
        for (const char* panel : {"d1-o1", "d1-o2"})
            for (std::int64_t k = 4; k <= 32; k += 4)
                see("pp", of(calibration, panel, k), k == 4 ? 2 : 1.4);
    EXPECT_EQ(checked("hetermoe/fig9/most").verdict, ClaimVerdict::supported);
    EXPECT_EQ(checked("hetermoe/fig9/4k/most").verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(checked("hetermoe/fig9/4k/least").verdict, ClaimVerdict::supported);
}

TEST_F(HetermoeClaims, TheBestRatioIsThatOfTheLargestGain) {
    const auto best_at = [&](std::int64_t best) {
        seen_.clear();
        for (const std::string& calibration : calibrations)
            for (std::int64_t old = 2; old <= 8; ++old)
                see("ep_ideal",
                    {{"calibration", calibration}, {"old", old}, {"sequence", std::int64_t{12}}},
                    old == best ? 1.2 : 1.1);
        return checked("hetermoe/fig10/12k/best");
    };
    EXPECT_EQ(best_at(5).verdict, ClaimVerdict::supported);
    EXPECT_EQ(best_at(6).verdict, ClaimVerdict::contradicted);
    EXPECT_DOUBLE_EQ(*best_at(6).obtained, 6);
}

TEST_F(HetermoeClaims, TheOnlyLossIsWhereThePaperHasIt) {
    const auto with = [&](double there, double elsewhere) {
        seen_.clear();
        for (const std::string& calibration : calibrations)
            for (const char* panel : {"d1-o1", "w1-o1", "w2-o2", "d2-o3"})
                for (std::int64_t k = 4; k <= 32; k += 4)
                    see("ep_ideal", of(calibration, panel, k),
                        panel == std::string("w2-o2") && k == 4 ? there
                        : k == 8                                ? elsewhere
                                                                : 1.1);
    };
    with(0.97, 1);
    EXPECT_EQ(checked("hetermoe/fig7/ep-ideal/loss").verdict, ClaimVerdict::supported);
    EXPECT_EQ(checked("hetermoe/fig7/ep-ideal/loss/only").verdict, ClaimVerdict::supported);
    with(0.97, 0.99);
    EXPECT_EQ(checked("hetermoe/fig7/ep-ideal/loss").verdict, ClaimVerdict::supported);
    EXPECT_EQ(checked("hetermoe/fig7/ep-ideal/loss/only").verdict, ClaimVerdict::contradicted);
    with(0.97, 0.96);
    EXPECT_EQ(checked("hetermoe/fig7/ep-ideal/loss").verdict, ClaimVerdict::contradicted);
}

TEST_F(HetermoeClaims, TheMedianErrorIsOfAbsoluteValuesOfAllArms) {
    const auto verdict = [&](const std::vector<double>& errors) {
        seen_.clear();
        for (std::size_t i = 0; i < errors.size(); ++i) {
            Observation one;
            one.variant = i % 2 == 0 ? "hetermoe" : "ep";
            one.axes = {{"part", std::int64_t{3}},
                        {"sequence", static_cast<std::int64_t>(i / 2)},
                        {"calibration", std::string("anchored")}};
            one.provenance = Provenance::emulated;
            one.metric = "timeline_error";
            one.value = errors[i];
            one.seed = 1;
            seen_.push_back(std::move(one));
        }
        return checked("hetermoe/fig7/emulated/error").verdict;
    };
    EXPECT_EQ(verdict({0.01, -0.02, 0.9}), ClaimVerdict::supported);
    EXPECT_EQ(verdict({-0.06, -0.06, 0}), ClaimVerdict::contradicted);
}

}  // namespace
}  // namespace assay::hetermoe
