// Links that are slow, lossy or cut: who waits, for how long, and how it ends.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <future>

#include "tests/cluster/collectives/run_ranks.hpp"
#include "tests/cluster/faults/faulty_group.hpp"

namespace assay::cluster {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& what) {
    const auto start = Clock::now();
    what();
    return Seconds(Clock::now() - start).count();
}

/// One all-to-all of `bytes` to and from everybody, on all ranks; the longest of their times.
double all_to_all_s(FaultyGroup& group, std::int64_t bytes) {
    const int size = int(group.members.size());
    std::vector<double> times(size);
    run_ranks(size, [&](int rank) {
        const std::vector<std::int64_t> counts(size, bytes);
        std::vector<std::uint8_t> out(size * bytes, std::uint8_t(rank)), in(size * bytes);
        times[rank] = seconds_of([&] {
            group.members[rank]->all_to_all_v(out.data(), counts, in.data(), counts, Dtype::u8);
        });
        for (int from = 0; from < size; ++from) EXPECT_EQ(in[from * bytes], from);
    });
    return *std::max_element(times.begin(), times.end());
}

class LinkFaultsTest : public testing::TestWithParam<bool> {
  protected:
    FaultLayerOptions options(double timeout_s = 20) const {
        return {.checksums = GetParam(), .timeout = Seconds(timeout_s)};
    }
};
INSTANTIATE_TEST_SUITE_P(Checksums, LinkFaultsTest, testing::Bool());

TEST_P(LinkFaultsTest, LatencyDelaysEverybodyWhoWaits) {
    FaultyGroup group(3, options());
    const double before_s = all_to_all_s(group, 100);
    group.faults[1]->set(12, {.latency = Seconds(0.1 + 2 * before_s)}, std::nullopt);
    const double delayed_s = all_to_all_s(group, 100);
    EXPECT_GE(delayed_s, 0.1 + 2 * before_s);
    EXPECT_GT(delayed_s, 2 * before_s);
    EXPECT_EQ(group.counts().delayed, 2) << "one message each way";
    group.faults[1]->set(12, {}, std::nullopt);
    EXPECT_LT(all_to_all_s(group, 100), delayed_s) << "healed";
    EXPECT_EQ(group.counts().delayed, 2);
}

// The receiver learns only from the message how long it was held back.
TEST_P(LinkFaultsTest, AMessageOfUnknownLengthIsDelayedAtEitherEnd) {
    for (const std::size_t slow : {0, 1}) {
        FaultyGroup group(2, options());
        group.faults[slow]->set(slow == 0 ? 11 : 10, {.bandwidth = 1e6}, std::nullopt);
        const auto took_s = seconds_of([&] {
            run_ranks(2, [&](int rank) {
                const std::vector<std::byte> much(100'000, std::byte{7});
                std::vector<Message> messages(2);
                if (rank == 0) messages[1] = {much};
                const auto arrived = group.members[rank]->exchange_messages(messages);
                EXPECT_EQ(arrived[0].size(), rank == 1 ? much.size() : 0u);
            });
        });
        EXPECT_GE(took_s, 0.1) << slow;
        EXPECT_EQ(group.counts().delayed, 1);
        group.faults[slow]->set(slow == 0 ? 11 : 10, {.cut = true}, Seconds(0.1));
        EXPECT_GE(seconds_of([&] {
                      run_ranks(2, [&](int rank) {
                          const std::byte one{1};
                          std::vector<Message> messages(2);
                          if (rank == 0) messages[1] = {{&one, 1}};
                          group.members[rank]->exchange_messages(messages);
                      });
                  }),
                  0.09)
            << slow;
    }
}

TEST_P(LinkFaultsTest, BandwidthDelaysByBytes) {
    FaultyGroup group(2, options());
    group.faults[0]->set(11, {.bandwidth = 1e6}, std::nullopt);
    EXPECT_GE(all_to_all_s(group, 100'000), 0.1);
    // Of nothing there is nothing to wait for.
    run_ranks(2, [&](int rank) {
        const std::vector<std::int64_t> none(2, 0);
        group.members[rank]->all_to_all_v(nullptr, none, nullptr, none, Dtype::u8);
    });
    EXPECT_EQ(group.counts().delayed, 2);
}

TEST_P(LinkFaultsTest, LinksWorkSideBySideAndTheSlowestCounts) {
    FaultyGroup group(4, options());
    for (WorkerId peer : {11, 12, 13}) {
        group.faults[0]->set(peer, {.latency = Seconds(0.1)}, std::nullopt);
    }
    double together_s = 1e9;  // the best of three: a busy machine only adds
    for (int i = 0; i < 3; ++i) together_s = std::min(together_s, all_to_all_s(group, 10));
    EXPECT_GE(together_s, 0.1);
    group.faults[0]->set(-1, {.latency = Seconds(0.3)}, std::nullopt);
    group.faults[0]->set(12, {.latency = Seconds(0.35)}, std::nullopt);
    EXPECT_GE(all_to_all_s(group, 10), 0.35);
    EXPECT_LT(together_s, 0.3) << "three links of 0.1 s each were waited for one after the other";
}

TEST_P(LinkFaultsTest, OnlyWhoTakesPartIsHeldBack) {
    FaultyGroup group(3, options());
    for (auto& faults : group.faults) {
        const WorkerId self = WorkerId(10 + (&faults - group.faults.data()));
        if (self != 12) faults->set(12, {.cut = true}, std::nullopt);
    }
    run_ranks(2, [&](int rank) {  // rank 2 stays away
        std::int64_t value = rank == 0 ? 4 : 0;
        if (rank == 0) group.members[0]->send(&value, 1, Dtype::i64, 1);
        if (rank == 1) group.members[1]->recv(&value, 1, Dtype::i64, 0);
        EXPECT_EQ(value, 4);
    });
    EXPECT_EQ(group.counts().cut, 0);
}

TEST_P(LinkFaultsTest, ASpecificConditionOverridesEverybodys) {
    FaultyGroup group(2, options());
    group.faults[0]->set(-1, {.cut = true}, std::nullopt);
    group.faults[0]->set(11, {}, std::nullopt);
    all_to_all_s(group, 10);
    EXPECT_EQ(group.counts().cut, 0);
    // When everybody's is lifted, the exemption goes with it.
    group.faults[0]->set(-1, {}, std::nullopt);
    group.faults[0]->set(-1, {.latency = Seconds(0.01)}, std::nullopt);
    all_to_all_s(group, 10);
    EXPECT_EQ(group.counts().delayed, 2);
}

TEST_P(LinkFaultsTest, ACutThatHealsInTimeOnlyDelays) {
    for (const bool by_itself : {true, false}) {
        FaultyGroup group(3, options());
        const double cut_s = 0.15;
        group.faults[0]->set(-1, {.cut = true},
                             by_itself ? std::optional(Seconds(cut_s)) : std::nullopt);
        const auto start = Clock::now();
        auto healer = std::async(std::launch::async, [&] {
            if (by_itself) return;
            std::this_thread::sleep_until(start + std::chrono::milliseconds(150));
            group.faults[0]->set(-1, {}, std::nullopt);
        });
        const double took_s = seconds_of([&] { all_to_all_s(group, 10); });
        EXPECT_GE(took_s, 0.9 * cut_s);
        EXPECT_EQ(group.counts().cut, 4) << "two peers, both directions";
        all_to_all_s(group, 10);
        EXPECT_EQ(group.counts().cut, 4);
    }
}

TEST_P(LinkFaultsTest, ACutThatStaysBreaksEverybodyAndNamesThePeer) {
    for (const WorkerId cut : {12, -1}) {
        FaultyGroup group(4, options(0.1));
        group.faults[1]->set(cut, {.cut = true}, std::nullopt);
        std::atomic<int> broken{0};
        run_ranks(4, [&](int rank) {
            std::int64_t value = rank, all[4];
            try {
                group.members[rank]->all_gather(&value, 1, all, Dtype::i64);
                ADD_FAILURE() << "rank " << rank << " got through";
            } catch (const Unreachable& unreachable) {
                EXPECT_EQ(rank, 1);
                EXPECT_EQ(unreachable.peer(), cut == -1 ? 10 : 12);
            } catch (const CommunicatorBroken&) {
                EXPECT_NE(rank, 1);
            }
            EXPECT_THROW(group.members[rank]->barrier(), CommunicatorBroken);
            ++broken;
        });
        EXPECT_EQ(broken, 4);
        EXPECT_EQ(group.counts().cut, cut == -1 ? 6 : 2);
    }
}

TEST_P(LinkFaultsTest, SurvivorsOfACutShrinkAndGoOn) {
    FaultyGroup group(3, options(0.05));
    group.faults[0]->set(12, {.cut = true}, std::nullopt);
    group.faults[2]->set(10, {.cut = true}, std::nullopt);
    const std::vector<int> survivors{0, 1};
    run_ranks(3, [&](int rank) {
        EXPECT_THROW(group.members[rank]->barrier(), CommunicatorBroken);
        if (rank == 2) return;
        auto pair = group.members[rank]->shrink(survivors, "without 12");
        std::int64_t value = 1;
        pair->all_reduce_sum(&value, 1, Dtype::i64);
        EXPECT_EQ(value, 2);
    });
}

TEST_P(LinkFaultsTest, AnAbortEndsAHold) {
    for (const bool cut : {true, false}) {
        FaultyGroup group(2, options(1000));
        LinkCondition condition;
        condition.cut = cut;
        if (!cut) condition.latency = Seconds(1000);
        group.faults[0]->set(11, condition, std::nullopt);
        const double took_s = seconds_of([&] {
            auto aborter = std::async(std::launch::async, [&] {
                std::this_thread::sleep_for(milliseconds(50));
                group.members[0]->abort("told so");
            });
            try {
                group.members[0]->barrier();
                ADD_FAILURE() << "passed a barrier alone";
            } catch (const CommunicatorBroken& broken) {
                EXPECT_NE(std::string(broken.what()).find("told so"), std::string::npos);
            }
        });
        EXPECT_LT(took_s, 500) << "a twentieth of a bound that only a lost wake-up reaches";
        EXPECT_THROW(group.members[0]->barrier(), CommunicatorBroken);
        EXPECT_THROW(group.members[1]->barrier(), CommunicatorBroken);
    }
}

// The thread that hears of a death has the links and the name of the group, not the communicator.
TEST_P(LinkFaultsTest, AnAbortByNameEndsAHoldAndLeavesOtherGroupsAlone) {
    for (const bool cut : {true, false}) {
        auto how = options(1000);
        how.group = "epoch 1";
        FaultyGroup group(2, how);
        LinkCondition condition;
        condition.cut = cut;
        if (!cut) condition.latency = Seconds(1000);
        group.faults[0]->set(11, condition, std::nullopt);
        const double took_s = seconds_of([&] {
            auto listener = std::async(std::launch::async, [&] {
                group.faults[0]->abort("another epoch", "nothing to do with it");
                std::this_thread::sleep_for(milliseconds(50));
                group.faults[0]->abort("epoch 1", "worker 12 is gone");
            });
            try {
                group.members[0]->barrier();
                ADD_FAILURE() << "passed a barrier alone";
            } catch (const CommunicatorBroken& broken) {
                EXPECT_NE(std::string(broken.what()).find("worker 12 is gone"), std::string::npos);
            }
        });
        EXPECT_LT(took_s, 500) << "a bound that only a lost wake-up reaches";
        EXPECT_GE(group.faults[0]->held().count(), 0.04);
        EXPECT_LE(group.faults[0]->held().count(), took_s);
        EXPECT_THROW(group.members[0]->barrier(), CommunicatorBroken) << "later ones end too";
        // The next group of the same members, with the link healed or not, is another one.
        group.faults[0]->set(11, {.latency = Seconds(0.001)}, std::nullopt);
        const std::vector<int> both{0, 1};
        run_ranks(2, [&](int rank) { group.members[rank]->shrink(both, "epoch 2")->barrier(); });
    }
}

// A message is lost k times with probability (1 - p) p^k: p / (1 - p) losses each on average, with
// variance p / (1 - p)^2. Five standard deviations: one false alarm in a million seeds, and the
// seed is fixed.
TEST_P(LinkFaultsTest, LossesAreGeometric) {
    for (const double loss : {0.1, 0.5}) {
        FaultyGroup group(2, options(), 17);
        group.faults[0]->set(11, {.loss = loss, .resend_after = Seconds(0)}, std::nullopt);
        const int messages = 4000;
        run_ranks(2, [&](int rank) {
            std::int64_t value = 0;
            for (int i = 0; i < messages; ++i) {
                if (rank == 0) group.members[0]->send(&value, 1, Dtype::i64, 1);
                if (rank == 1) group.members[1]->recv(&value, 1, Dtype::i64, 0);
            }
        });
        const double mean = messages * loss / (1 - loss);
        const double deviation = std::sqrt(messages * loss) / (1 - loss);
        EXPECT_NEAR(double(group.counts().lost), mean, 5 * deviation) << loss;
        EXPECT_EQ(group.counts().delayed, 0);
    }
}

TEST_P(LinkFaultsTest, EachLossCostsAResend) {
    FaultyGroup group(2, options(), 5);
    group.faults[0]->set(11, {.loss = 0.7, .resend_after = Seconds(0.02)}, std::nullopt);
    for (int i = 0; i < 8; ++i) {
        const long before = group.counts().lost;
        const double took_s = all_to_all_s(group, 10);
        EXPECT_GE(took_s, 0.02 * double(group.counts().lost - before));
    }
    EXPECT_GT(group.counts().lost, 0);
}

TEST_P(LinkFaultsTest, LossesFollowTheSeedAndTheWorker) {
    const auto lost = [&](std::uint64_t seed, int rank) {
        FaultyGroup group(2, options(), seed);
        group.faults[rank]->set(-1, {.loss = 0.5, .resend_after = Seconds(0)}, std::nullopt);
        std::vector<long> history;
        for (int i = 0; i < 30; ++i) {
            all_to_all_s(group, 1);
            history.push_back(group.counts().lost);
        }
        return history;
    };
    EXPECT_EQ(lost(3, 0), lost(3, 0));
    EXPECT_NE(lost(3, 0), lost(4, 0));
    EXPECT_NE(lost(3, 0), lost(3, 1));
}

TEST_P(LinkFaultsTest, ConditionsMayChangeWhileOperationsRun) {
    FaultyGroup group(3, options());
    std::atomic<bool> done{false};
    auto listener = std::async(std::launch::async, [&] {
        for (int i = 0; !done; ++i) {
            auto& faults = *group.faults[i % 3];
            faults.set(-1, {.latency = Seconds(0.0002), .loss = 0.2, .cut = i % 5 == 0},
                       Seconds(0.002));
            if (i % 7 == 0) faults.set(-1, {}, std::nullopt);
            faults.counts();
        }
    });
    for (int i = 0; i < 20; ++i) {
        run_ranks(3, [&](int rank) {
            std::int64_t value = rank, all[3] = {};
            group.members[rank]->all_gather(&value, 1, all, Dtype::i64);
            EXPECT_EQ(all[0] + 10 * all[1] + 100 * all[2], 210);
        });
        for (auto& faults : group.faults) faults->set(-1, {}, std::nullopt);
    }
    done = true;
}

TEST(LinkFaults, RefusesWhatCannotBe) {
    LinkFaults faults(3, 1);
    EXPECT_THROW(faults.set(3, {.cut = true}, std::nullopt), std::invalid_argument);
    EXPECT_THROW(faults.set(-2, {.cut = true}, std::nullopt), std::invalid_argument);
    EXPECT_THROW(faults.set(1, {.latency = Seconds(-1)}, std::nullopt), std::invalid_argument);
    EXPECT_THROW(faults.set(1, {.bandwidth = -1}, std::nullopt), std::invalid_argument);
    EXPECT_THROW(faults.set(1, {.loss = 1.0}, std::nullopt), std::invalid_argument);
    EXPECT_THROW(faults.set(1, {.loss = std::nan("")}, std::nullopt), std::invalid_argument);
    EXPECT_THROW(faults.set(1, {.cut = true}, Seconds(-1)), std::invalid_argument);
}

TEST(FaultLayer, NeedsANameForEveryRank) {
    auto members = make_in_process_group(2);
    EXPECT_THROW(
        make_fault_layer(std::move(members[0]), {1}, std::make_shared<LinkFaults>(1, 1), {}),
        std::invalid_argument);
}

}  // namespace
}  // namespace assay::cluster
