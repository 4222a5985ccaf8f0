// What steps say of a kind's pace, and when that is worth a word.
#include "impls/hetermoe/policy/controller/pace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace assay::hetermoe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two new and two old workers, two layers of eight experts, one of each old one's in each moved.
Layout layout() { return {{2, 2}, 1, 3, {1, 1}, {0, 1, 2, 3}}; }

TEST(RankPaces, AreWhatAProfileWouldSay) {
    // T_A 10, T_E 40 for all four experts of an old GPU, T_X 24 for as many: one of four moves.
    const auto fresh = pace_of({.attention_s = 3 * 2 * 10, .moved_s = 3 * 2 * 6}, layout(), 8);
    EXPECT_DOUBLE_EQ(fresh.attention_s, 10);
    EXPECT_DOUBLE_EQ(fresh.new_expert_s, 24);
    EXPECT_EQ(fresh.old_expert_s, 0);
    const auto old = pace_of({.expert_s = 3 * 2 * 30}, layout(), 8);
    EXPECT_DOUBLE_EQ(old.old_expert_s, 40);
    EXPECT_EQ(old.attention_s, 0);
    // One new, two old: half of the rows for each, so that a profile's time is twice T_E.
    EXPECT_DOUBLE_EQ(
        pace_of({.expert_s = 3 * 2 * 20}, {{1, 2}, 1, 3, {0, 0}, {0, 1, 2}}, 8).old_expert_s, 40);
    // All experts have moved: nothing is known of it.
    EXPECT_EQ(pace_of({}, {{1, 1}, 1, 3, {8, 8}, {0, 1}}, 8).old_expert_s, 0);
}

class Pace : public testing::Test {
  protected:
    // A step in which new workers take `fresh` times as long as profiled, the old ones so long
    // each.
    std::vector<Event> step(double fresh, double old, double other_old) {
        const auto of_new = [&] {
            return ComputedTimes{.attention_s = fresh * 60e-3, .moved_s = fresh * 36e-3};
        };
        return watch_.step_done(
            {step_++, epoch_, layout()},
            {of_new(), of_new(), {.expert_s = old * 180e-3}, {.expert_s = other_old * 180e-3}});
    }
    std::vector<Event> steps(int count, double fresh, double old) {
        std::vector<Event> all;
        for (int i = 0; i < count; ++i)
            for (const auto& event : step(fresh, old, 1)) all.push_back(event);
        return all;
    }
    std::vector<Event> begin() { return steps(6, 1, 1); }

    PaceWatch watch_{{.window = 5, .hysteresis = 1.5}, {.exchange = 7}, 8};
    Epoch epoch_ = 1;
    Step step_ = 0;
};

TEST_F(Pace, TheFirstWindowIsTheProfile) {
    const StageTimes times{
        .attention = 10'000'000, .old_expert = 40'000'000, .new_expert = 24'000'000, .exchange = 7};
    EXPECT_THAT(begin(), ElementsAre(Event{Profiled{times}}));
    EXPECT_THAT(steps(50, 1.2, 0.9), IsEmpty());
}

TEST_F(Pace, OneSlowWorkerIsItsKindsPace) {
    begin();
    // Three steps of five are slow before the median is.
    EXPECT_THAT(steps(4, 1, 1), IsEmpty());
    EXPECT_THAT(steps(2, 1, 3), IsEmpty());
    EXPECT_THAT(steps(1, 1, 3), ElementsAre(Event{Slow{false, 3}}));
    EXPECT_THAT(steps(20, 1, 3), IsEmpty()) << "said once";
    EXPECT_THAT(steps(20, 1, 4), IsEmpty()) << "not worth another plan";
    EXPECT_THAT(steps(20, 1, 1.1), ElementsAre(Event{Slow{false, 1}})) << "as profiled again";
    EXPECT_THAT(steps(20, 2, 1), ElementsAre(Event{Slow{true, 2}}));
}

TEST_F(Pace, NoSingleStepDecides) {
    begin();
    std::vector<Event> heard;
    for (int i = 0; i < 30; ++i)
        for (const auto& event : step(i % 3 == 0 ? 50 : 1, i % 5 < 2 ? 50 : 1, 1))
            heard.push_back(event);
    EXPECT_THAT(heard, IsEmpty());
}

// Nor do two workers that are slow by turns make a slow kind.
TEST_F(Pace, EveryWorkerHasItsOwnMedian) {
    begin();
    std::vector<Event> heard;
    for (int i = 0; i < 30; ++i)
        for (const auto& event : step(1, i % 5 < 2 ? 9 : 1, i % 5 >= 3 ? 9 : 1))
            heard.push_back(event);
    EXPECT_THAT(heard, IsEmpty());
}

TEST_F(Pace, AWindowBeginsAnewWithAPlanAndWithoutItsFirstStep) {
    begin();
    EXPECT_THAT(steps(2, 1, 3), IsEmpty());
    ++epoch_;
    EXPECT_THAT(steps(1, 90, 90), IsEmpty());
    EXPECT_THAT(steps(4, 1, 3), IsEmpty());
    EXPECT_THAT(steps(1, 1, 3), ElementsAre(Event{Slow{false, 3}}));
}

}  // namespace
}  // namespace assay::hetermoe
