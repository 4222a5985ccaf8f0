// Who is to blame for a broken group: culprits that are named, deaths that explain it, workers that
// are stuck, reports that come late.
#include "suite/drive/suspicion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::drive {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Actions = std::vector<Suspicion::Action>;
using Cause = Suspicion::Cause;

constexpr double patience_s = 3;

class SuspicionTest : public testing::Test {
  protected:
    SuspicionTest() { tell(Suspicion::GroupForms{1, {0, 1, 2, 3}}); }
    Actions tell(const Suspicion::Event& event) {
        Actions actions;
        suspicion.on(event, 0, actions);
        return actions;
    }
    Actions broke(WorkerId reporter, Epoch epoch = 1) {
        return tell(Suspicion::GroupBroke{.reporter = reporter, .epoch = epoch, .why = "reset"});
    }
    /// The timer that a report started.
    std::uint64_t timer_of(const Actions& actions) {
        return std::get<StartTimer>(actions.at(0)).id;
    }
    Suspicion suspicion{patience_s};
};

TEST_F(SuspicionTest, ANamedCulpritIsBlamedAtOnce) {
    EXPECT_THAT(
        tell(Suspicion::GroupBroke{.reporter = 2,
                                   .epoch = 1,
                                   .cause = Cause::corrupt_message,
                                   .suspect = 3,
                                   .why = "checksum"}),
        ElementsAre(Suspicion::Action(Suspicion::Blame{1, 3, Cause::corrupt_message, "checksum"})));
    EXPECT_TRUE(suspicion.broken());
}

TEST_F(SuspicionTest, OneThatDidNotNoticeIsBlamedWhenNoDeathExplainsIt) {
    const auto started = broke(0);
    ASSERT_THAT(started, ElementsAre(Suspicion::Action(StartTimer{1, patience_s})));
    EXPECT_THAT(broke(1), IsEmpty());  // one timer is enough
    EXPECT_THAT(broke(3), IsEmpty());
    EXPECT_THAT(
        tell(Timer{timer_of(started)}),
        ElementsAre(Suspicion::Action(Suspicion::Blame{1, 2, Cause::unexplained, "reset"})));
}

TEST_F(SuspicionTest, WhereAllNoticedTheFirstToSaySoGoes) {
    const auto started = broke(2);
    for (WorkerId other : {0, 1, 3}) broke(other);
    const auto blamed = tell(Timer{timer_of(started)});
    ASSERT_EQ(blamed.size(), 1U);
    EXPECT_EQ(std::get<Suspicion::Blame>(blamed[0]).suspect, 2);
}

TEST_F(SuspicionTest, ADeathInTimeExplainsIt) {
    const auto started = broke(0);
    EXPECT_THAT(tell(Died{3}), IsEmpty());
    EXPECT_THAT(tell(Timer{timer_of(started)}), IsEmpty());
    EXPECT_THAT(broke(1), IsEmpty());  // late news of the same
}

TEST_F(SuspicionTest, AStrangersDeathExplainsNothing) {
    const auto started = broke(0);
    tell(Died{17});
    EXPECT_EQ(tell(Timer{timer_of(started)}).size(), 1U);
}

TEST_F(SuspicionTest, WhoWasDismissedIsNotToBlame) {
    tell(Suspicion::Left{1});
    const auto started = broke(0);
    tell(Died{1});  // its end is no death of the group
    const auto blamed = tell(Timer{timer_of(started)});
    ASSERT_EQ(blamed.size(), 1U);
    EXPECT_EQ(std::get<Suspicion::Blame>(blamed[0]).suspect, 2);
}

TEST_F(SuspicionTest, WhoLeftAfterItsReportIsNotToBlameEither) {
    const auto started = broke(2);
    for (WorkerId other : {0, 1, 3}) broke(other);
    tell(Suspicion::Left{2});
    EXPECT_THAT(
        tell(Timer{timer_of(started)}),
        ElementsAre(Suspicion::Action(Suspicion::Blame{1, 0, Cause::unexplained, "reset"})));
}

TEST_F(SuspicionTest, WhereEverybodyHasLeftNobodyIsToBlame) {
    const auto started = broke(2);
    for (WorkerId member : {0, 1, 2, 3}) tell(Suspicion::Left{member});
    EXPECT_THAT(tell(Timer{timer_of(started)}), IsEmpty());
}

TEST_F(SuspicionTest, OldGroupsMatterNoMore) {
    const auto started = broke(0);
    tell(Suspicion::GroupForms{2, {0, 1, 2}});
    EXPECT_FALSE(suspicion.broken());
    EXPECT_THAT(tell(Timer{timer_of(started)}), IsEmpty());
    EXPECT_THAT(broke(1, /*epoch=*/1), IsEmpty());
    EXPECT_EQ(broke(1, 2).size(), 1U);
}

TEST_F(SuspicionTest, AGroupIsBlamedOnceOnly) {
    tell(Suspicion::GroupBroke{
        .reporter = 0, .epoch = 1, .cause = Cause::unreachable, .suspect = 0});
    EXPECT_THAT(tell(Suspicion::GroupBroke{
                    .reporter = 1, .epoch = 1, .cause = Cause::unreachable, .suspect = 1}),
                IsEmpty());
    EXPECT_THAT(broke(2), IsEmpty());
}

}  // namespace
}  // namespace assay::drive
