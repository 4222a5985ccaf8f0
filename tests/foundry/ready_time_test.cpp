// When a start is ready: closed forms against a schedule played out thread by thread, virtual time
// against the closed forms, and what --costs refuses.
#include "impls/foundry/method/ready_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

#include "impls/foundry/experiments/cold_start.hpp"
#include "suite/base/error.hpp"

namespace assay::foundry {
namespace {

/// When the last of so many equal pieces of work is done, each by whichever thread is free first.
double last_done(double begin, std::size_t pieces, double seconds, std::int64_t threads) {
    std::vector<double> free(static_cast<std::size_t>(threads), begin);
    double last = begin;
    for (std::size_t i = 0; i < pieces; ++i) {
        double& first = *std::min_element(free.begin(), free.end());
        first += seconds;
        last = std::max(last, first);
    }
    return last;
}

ReadyTimes played_out(const Costs& costs, std::size_t graphs, std::size_t groups) {
    const double built = costs.build + costs.instantiate;
    const double templates = last_done(costs.images, groups, built, 1);
    const double members = last_done(costs.images, graphs - groups, costs.prepare, costs.threads);
    const double lazy = std::max(templates, members);
    return {.capture = last_done(0, graphs, costs.capture, 1),
            .no_templates = last_done(costs.images, graphs, built, 1),
            .r1 = lazy,
            .r3_lazy = lazy,
            .r3_eager = last_done(lazy, graphs - groups, costs.rewrite + costs.instantiate, 1)};
}

class ReadyTime : public ::testing::Test {
  protected:
    Costs any_costs() {
        Costs costs;
        for (double* cost : {&costs.capture, &costs.build, &costs.instantiate, &costs.rewrite,
                             &costs.prepare, &costs.images, &costs.update})
            *cost = std::uniform_real_distribution<double>(0, 1)(random_);
        // So that now the one, now the other of the two that go on beside each other is longer.
        costs.prepare *= std::uniform_int_distribution<int>(0, 1)(random_) ? 0.1 : 4;
        costs.threads = std::uniform_int_distribution<int>(1, 9)(random_);
        return costs;
    }
    std::size_t number(std::size_t least, std::size_t most) {
        return std::uniform_int_distribution<std::size_t>(least, most)(random_);
    }
    std::mt19937 random_{7};
};

TEST_F(ReadyTime, ClosedFormsAreWhatAScheduleTakes) {
    for (int i = 0; i < 500; ++i) {
        const Costs costs = any_costs();
        const std::size_t graphs = number(1, 60), groups = number(1, graphs);
        const ReadyTimes formula = ready_times(costs, graphs, groups);
        const ReadyTimes schedule = played_out(costs, graphs, groups);
        EXPECT_NEAR(formula.capture, schedule.capture, 1e-9);
        EXPECT_NEAR(formula.no_templates, schedule.no_templates, 1e-9);
        EXPECT_NEAR(formula.r1, schedule.r1, 1e-9);
        EXPECT_NEAR(formula.r3_lazy, schedule.r3_lazy, 1e-9);
        EXPECT_NEAR(formula.r3_eager, schedule.r3_eager, 1e-9);
    }
}

TEST_F(ReadyTime, VirtualTimeIsReadyWhenTheClosedFormsSay) {
    for (int i = 0; i < 300; ++i) {
        const Costs costs = any_costs();
        const std::size_t graphs = number(1, 40), groups = number(1, graphs);
        const ReadyTimes formula = ready_times(costs, graphs, groups);
        const auto start = [&](Start way, Members members = Members::with) {
            return cold_start({.start = way,
                               .members = members,
                               .costs = costs,
                               .graphs = static_cast<int>(graphs),
                               .groups = static_cast<int>(groups)});
        };
        const double members = static_cast<double>(graphs - groups);
        EXPECT_NEAR(start(Start::capture).ready_s, formula.capture, 1e-9);
        EXPECT_NEAR(start(Start::no_templates).ready_s, formula.no_templates, 1e-9);
        EXPECT_NEAR(start(Start::r1).ready_s, formula.r1, 1e-9);
        EXPECT_NEAR(start(Start::r3_lazy).ready_s, formula.r3_lazy, 1e-9);
        EXPECT_NEAR(start(Start::r3_eager).ready_s, formula.r3_eager, 1e-9);
        EXPECT_EQ(start(Start::lazy_capture).ready_s, 0);

        // What is left for the first launches.
        EXPECT_EQ(start(Start::capture).first_launches_s, 0);
        EXPECT_EQ(start(Start::r3_eager).first_launches_s, 0);
        EXPECT_NEAR(start(Start::lazy_capture).first_launches_s, formula.capture, 1e-9);
        EXPECT_NEAR(start(Start::r1).first_launches_s, members * costs.update, 1e-9);
        EXPECT_NEAR(start(Start::r3_lazy).first_launches_s,
                    members * (costs.rewrite + costs.instantiate), 1e-9);

        // Without members a start is ready with its templates, and pays the rest then.
        for (const Start way : {Start::r1, Start::r3_lazy, Start::r3_eager}) {
            const ColdStartTimes whole = start(way), early = start(way, Members::without);
            const double built = static_cast<double>(groups) * (costs.build + costs.instantiate);
            EXPECT_NEAR(early.ready_s, costs.images + built, 1e-9);
            EXPECT_GE(early.first_launches_s, whole.first_launches_s - 1e-9);
            EXPECT_LE(early.ready_s + early.first_launches_s,
                      whole.ready_s + whole.first_launches_s + 1e-9)
                << "nothing is lost by not waiting";
        }
    }
}

TEST_F(ReadyTime, ALaunchWaitsForItsOwnMember) {
    // Two templates of 1 s beside three members of 3 s on one thread: members are there at 3, 6 and
    // 9 s; ready at 2 s, each launched 2 s after it came.
    const Costs costs{.build = 1, .prepare = 3, .update = 2};
    const ColdStartTimes times = cold_start({.start = Start::r1,
                                             .members = Members::without,
                                             .costs = costs,
                                             .graphs = 5,
                                             .groups = 2});
    EXPECT_DOUBLE_EQ(times.ready_s, 2);
    EXPECT_DOUBLE_EQ(times.first_launches_s, 11 - 2);
}

TEST_F(ReadyTime, UpdatesArePaidLater) {
    Costs costs = any_costs();
    const ReadyTimes before = ready_times(costs, 12, 4);
    costs.update += 100;
    const ReadyTimes after = ready_times(costs, 12, 4);
    EXPECT_EQ(before.r1, after.r1);
    EXPECT_EQ(before.r3_eager, after.r3_eager);
}

TEST_F(ReadyTime, SpecificationsExample) {
    // Specification 4.3.3: all 512 built one after the other.
    EXPECT_NEAR(ready_times({.build = 0.0695}, 512, 25).no_templates, 35.6, 0.05);
    EXPECT_EQ(ready_times({.build = 1}, 0, 0).no_templates, 0);
    EXPECT_THROW(ready_times({}, 3, 4), std::logic_error);
    EXPECT_THROW(ready_times({.threads = 0}, 3, 1), std::logic_error);
}

std::string refusal(const std::string& costs, const std::string& threads = "1") {
    try {
        parse_costs(costs, threads);
    } catch (const UserError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(CostsText, IsRead) {
    const Costs costs = parse_costs(
        "update=7,capture=0.5,build=2,instantiate=3e-1,rewrite=4,prepare=5,images=6", "12");
    EXPECT_EQ(costs.capture, 0.5);
    EXPECT_EQ(costs.build, 2);
    EXPECT_EQ(costs.instantiate, 0.3);
    EXPECT_EQ(costs.rewrite, 4);
    EXPECT_EQ(costs.prepare, 5);
    EXPECT_EQ(costs.images, 6);
    EXPECT_EQ(costs.update, 7);
    EXPECT_EQ(costs.threads, 12);
    EXPECT_EQ(parse_costs("build=1").capture, 0);
    EXPECT_EQ(parse_costs("build=0").threads, 1);
}

TEST(CostsText, IsRefusedWithWhatWouldDo) {
    EXPECT_EQ(refusal("captur=1"),
              "--costs: 'captur' is no cost; did you mean capture? known are capture, build, "
              "instantiate, rewrite, prepare, images, update");
    EXPECT_EQ(refusal("zzz=1"),
              "--costs: 'zzz' is no cost; known are capture, build, instantiate, rewrite, prepare, "
              "images, update");
    EXPECT_EQ(refusal("build=1,build=1"), "--costs: 'build' stands twice; give it once");
    for (const char* wrong : {"", "build", "build=1,", ",build=1", "build=1,,rewrite=1"})
        EXPECT_NE(refusal(wrong).find("is no NAME=SECONDS"), std::string::npos) << wrong;
    for (const char* wrong :
         {"", "-1", "-0.5", "nan", "inf", "-inf", "1e999", "1s", "1 ", " 1", "0x1", "=1", "one"})
        EXPECT_EQ(refusal(std::string("build=") + wrong),
                  std::string("--costs build: '") + wrong +
                      "' is no number of seconds; give a finite one that is not negative");
    for (const char* wrong : {"0", "-1", "", "1.5", "two"})
        EXPECT_EQ(refusal("build=1", wrong),
                  std::string("--threads '") + wrong + "': give a whole number from 1");
}

}  // namespace
}  // namespace assay::foundry
