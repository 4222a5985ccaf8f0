// Recorded decisions are enough to find out whether a policy still decides as it did.
#include "suite/drive/policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

namespace assay::drive {
namespace {

struct Asked {
    int work;
    bool operator==(const Asked&) const = default;
};
struct Begin {
    int work;
    bool operator==(const Begin&) const = default;
};

/// Hands out the largest piece of work that waits, whenever nobody has anything to do.
class LargestFirst {
  public:
    using Event = std::variant<Asked, Idle>;
    using Action = std::variant<Begin>;

    explicit LargestFirst(bool smallest = false) : smallest_(smallest) {}

    void on(const Event& event, double, std::vector<Action>& actions) {
        if (const auto* asked = std::get_if<Asked>(&event)) return waiting_.push_back(asked->work);
        if (waiting_.empty()) return;
        auto chosen = smallest_ ? std::min_element(waiting_.begin(), waiting_.end())
                                : std::max_element(waiting_.begin(), waiting_.end());
        actions.push_back(Begin{*chosen});
        waiting_.erase(chosen);
    }

  private:
    bool smallest_;
    std::vector<int> waiting_;
};

static_assert(Policy<LargestFirst>);
static_assert(!Policy<int>);

RecordedPolicy<LargestFirst> after_a_while(bool keep) {
    RecordedPolicy<LargestFirst> policy(keep);
    for (int work : {3, 9, 4}) policy.on(Asked{work}, 0.5);
    EXPECT_EQ(policy.on(Idle{}, 1), (std::vector<LargestFirst::Action>{Begin{9}}));
    policy.on(Idle{}, 2);
    return policy;
}

TEST(RecordedPolicy, TheSameCodeDecidesTheSameAgain) {
    const auto policy = after_a_while(true);
    ASSERT_EQ(policy.decisions().size(), 5U);
    EXPECT_EQ(policy.decisions()[3].now_s, 1);
    EXPECT_EQ(first_difference(LargestFirst(), policy.decisions()), std::nullopt);
}

TEST(RecordedPolicy, OtherCodeIsCaughtAtItsFirstOtherDecision) {
    const auto policy = after_a_while(true);
    const auto difference = first_difference(LargestFirst(true), policy.decisions());
    ASSERT_TRUE(difference);
    EXPECT_EQ(difference->decision, 3U);
    EXPECT_EQ(difference->actions, (std::vector<LargestFirst::Action>{Begin{3}}));
}

TEST(RecordedPolicy, KeepsNothingUnlessAsked) {
    EXPECT_TRUE(after_a_while(false).decisions().empty());
}

}  // namespace
}  // namespace assay::drive
