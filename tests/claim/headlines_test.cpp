// The shipped claim files: each system has one to four headlines, a paper's own where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "suite/claim/claim.hpp"

namespace {

using assay::Claim;
using assay::ClaimKind;

/// Claims by the name of their file.
std::map<std::string, std::vector<Claim>> shipped() {
    std::map<std::string, std::vector<Claim>> all;
    for (const auto& file :
         std::filesystem::directory_iterator(std::filesystem::path(ASSAY_TEST_DATASETS) / "claims"))
        if (file.path().extension() == ".toml")
            all[file.path().stem()] = assay::read_claims(file.path());
    return all;
}

}  // namespace

TEST(Headlines, EverySystemHasOneToFour) {
    const auto all = shipped();
    EXPECT_GE(all.size(), 5U);
    for (const auto& [name, claims] : all) {
        const bool has_paper = std::any_of(claims.begin(), claims.end(), [](const Claim& claim) {
            return claim.kind == ClaimKind::claim;
        });
        std::size_t count = 0;
        for (const Claim& claim : claims) {
            if (!claim.headline) continue;
            ++count;
            EXPECT_EQ(claim.kind, has_paper ? ClaimKind::claim : ClaimKind::ours) << claim.id;
        }
        EXPECT_GE(count, 1U) << name;
        EXPECT_LE(count, 4U) << name;
    }
}

TEST(Headlines, ThoseOfHeterMoeHaveTheNumbersOfItsAbstract) {
    const auto all = shipped();
    std::vector<double> values;
    for (const Claim& claim : all.at("hetermoe"))
        if (claim.headline && claim.value) values.push_back(*claim.value);
    EXPECT_THAT(values, testing::IsSupersetOf({2.3, 1.4}));
}
