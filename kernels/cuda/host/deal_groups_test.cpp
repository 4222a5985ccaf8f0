#include "kernels/cuda/host/deal_groups.hpp"

#include <gmock/gmock.h>

namespace assay::kernels::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CudaDivision, DealsWholeGroupsInTurn) {
    const std::vector<int> groups(15, 8);  // of 132 multiprocessors, as an H100 gives them
    const DealtGroups dealt = deal_groups(groups, {40, 32});
    EXPECT_THAT(dealt.groups, ElementsAre(ElementsAre(0, 1, 2, 3, 4), ElementsAre(5, 6, 7, 8)));
    EXPECT_EQ(dealt.why_not, "");
    EXPECT_THAT(deal_groups(groups, {1, 9}).groups, ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
}

TEST(CudaDivision, TakesGroupsOfUnequalSize) {
    EXPECT_THAT(deal_groups({18, 16, 2}, {17, 17}).groups,
                ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
}

TEST(CudaDivision, RefusesWhatDoesNotFit) {
    EXPECT_THAT(deal_groups(std::vector<int>(15, 8), {72, 56}).why_not,
                HasSubstr("15 groups of multiprocessors, 120 in all"));
    EXPECT_THAT(deal_groups({}, {8}).why_not, HasSubstr("0 groups"));
    EXPECT_THAT(deal_groups({8}, {}).why_not, HasSubstr("no part"));
    EXPECT_THAT(deal_groups({8}, {8, 0}).why_not, HasSubstr("at least one"));
    EXPECT_TRUE(deal_groups({8}, {8, 0}).groups.empty());
}

}  // namespace
}  // namespace assay::kernels::cuda
