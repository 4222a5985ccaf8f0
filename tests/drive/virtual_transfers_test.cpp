// Transfers in virtual time: by hand, at random beside the textbook's solver, and under faults.
#include "suite/drive/simulated/virtual_transfers.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "suite/drive/simulated/event_queue.hpp"
#include "tests/drive/simgrid/fluid.hpp"

namespace assay::drive {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class VirtualTransfersTest : public ::testing::Test {
  protected:
    explicit VirtualTransfersTest(int workers = 5, Nic nic = {10, 10, 0.5}) {
        for (WorkerId worker = 0; worker < workers; ++worker) transfers_.set_nic(worker, nic);
    }

    void begin(VirtualTransfers::Id id, WorkerId from, WorkerId to, double bytes) {
        transfers_.begin(id, from, to, bytes,
                         [this, id] { seen_.push_back(fmt::format("{} {:g}", id, time_.now())); });
    }
    /// What arrives from now on, each with its moment; the time is over afterwards.
    std::vector<std::string> finish() {
        while (time_.next()) {
        }
        EXPECT_TRUE(time_.empty());
        return std::exchange(seen_, {});
    }

    EventQueue time_;
    VirtualTransfers transfers_{time_};
    std::vector<std::string> seen_;
};

TEST_F(VirtualTransfersTest, TakeBothLatenciesAndShareThePortOfEachDirection) {
    begin(1, 0, 1, 100);
    begin(2, 0, 2, 50);
    begin(3, 1, 0, 100);
    begin(4, 3, 4, 0);
    EXPECT_EQ(transfers_.under_way(), 4U);
    EXPECT_THAT(finish(), ElementsAre("4 1", "2 11", "3 11", "1 16"));
    EXPECT_EQ(transfers_.under_way(), 0U);
}

TEST_F(VirtualTransfersTest, AWorkerWithoutLimitsIsLimitedByItsPeers) {
    transfers_.set_nic(7, {});
    transfers_.set_nic(8, {});
    begin(1, 7, 8, 1e12);
    begin(2, 7, 1, 100);
    begin(3, 7, 2, 100);
    EXPECT_THAT(seen_, IsEmpty()) << "not from within begin()";
    EXPECT_THAT(finish(), ElementsAre("1 0", "2 10.5", "3 10.5"));
}

TEST_F(VirtualTransfersTest, APortMayBecomeAnother) {
    begin(1, 0, 1, 100);
    time_.at(6, [&] { transfers_.set_nic(1, {.send_bytes_s = 1, .receive_bytes_s = 5}); });
    EXPECT_THAT(finish(), ElementsAre("1 16"));
}

TEST_F(VirtualTransfersTest, ArrivedMayBeginAndStopOthersThatEndAtThatMoment) {
    transfers_.begin(1, 0, 1, 100, [&] {
        EXPECT_EQ(transfers_.stop(2), 100U) << "its bytes are there";
        EXPECT_EQ(transfers_.stop(1), 0U) << "forgotten";
        begin(1, 0, 2, 40);
    });
    begin(2, 2, 3, 100);
    begin(3, 3, 4, 100);
    EXPECT_THAT(finish(), ElementsAre("3 11", "1 16"));
}

TEST_F(VirtualTransfersTest, OfAWorkerThatDiesAllStopInTheOrderOfTheirIds) {
    begin(9, 0, 1, 100);
    begin(4, 2, 0, 100);
    begin(5, 2, 3, 100);
    begin(1, 0, 3, 5);
    time_.at(4.9, [&] { begin(2, 4, 0, 10); });
    std::vector<VirtualTransfers::Done> stopped;
    time_.at(5, [&] { stopped = transfers_.stop_all_of(0); });
    time_.at(6, [&] { EXPECT_THAT(transfers_.stop_all_of(0), IsEmpty()); });
    // 1 and 9 have 5 of their port each until 1 is there; of 3's, 5 has as much.
    EXPECT_THAT(finish(), ElementsAre("1 2", "5 13"));
    EXPECT_THAT(stopped, ElementsAre(Pair(2, 0), Pair(4, 20), Pair(9, 35)));
}

TEST_F(VirtualTransfersTest, StoppedAtEveryTenthWhatIsDoneIsRight) {
    for (int tenth = 0; tenth <= 10; ++tenth) {
        const double begun_s = time_.now(), bytes = 1234567;
        begin(1, 0, 1, bytes);
        std::uint64_t done = 1;
        time_.at(begun_s + 1 + tenth / 10.0 * bytes / 10, [&] { done = transfers_.stop(1); });
        const auto arrived = finish();
        EXPECT_LE(static_cast<double>(done), bytes);
        // What ends at the moment of the stop may have arrived just before it.
        if (tenth == 10 && !arrived.empty()) continue;
        EXPECT_THAT(arrived, IsEmpty());
        EXPECT_NEAR(static_cast<double>(done), tenth / 10.0 * bytes, 1);
    }
}

TEST(VirtualTransfers, ARoundingErrorCostsNoByte) {
    for (int second = 1; second < 50; ++second) {
        EventQueue time;
        VirtualTransfers transfers(time);
        for (const WorkerId worker : {0, 1}) transfers.set_nic(worker, {10, 10, 0.05});
        transfers.begin(1, 0, 1, 1000, [] {});
        time.at(0.1 + second, [&] { EXPECT_EQ(transfers.stop(1), 10U * second); });
        while (time.next()) {
        }
    }
}

TEST_F(VirtualTransfersTest, RefuseWhatMakesNoSense) {
    begin(1, 0, 1, 10);
    EXPECT_THROW(begin(1, 2, 3, 10), std::logic_error);
    EXPECT_THROW(begin(2, 0, 99, 10), std::logic_error);
    EXPECT_THROW(begin(2, 0, 0, 10), std::logic_error);
    EXPECT_THROW(begin(2, 0, 1, -1), std::logic_error);
    EXPECT_THROW(begin(2, 0, 1, std::nan("")), std::logic_error);
    EXPECT_THROW(transfers_.set_nic(0, {.send_bytes_s = -1}), std::logic_error);
    EXPECT_THROW(transfers_.set_nic(0, {.latency_s = -1}), std::logic_error);
    EXPECT_THROW(transfers_.set_link(0, 0, {}), std::logic_error);
    EXPECT_THROW(transfers_.set_link(0, 1, {.loss = 1}), std::logic_error);
    EXPECT_THROW(transfers_.set_link(0, 1, {.cut = true}, -1), std::logic_error);
    EXPECT_EQ(transfers_.stop(2), 0U);
    EXPECT_EQ(transfers_.under_way(), 1U);
    EXPECT_THAT(finish(), ElementsAre("1 2"));
}

TEST(VirtualTransfers, TakeNothingOfTheTimeWithThemWhenTheyGo) {
    EventQueue time;
    {
        VirtualTransfers transfers(time);
        for (const WorkerId worker : {0, 1}) transfers.set_nic(worker, {.send_bytes_s = 1});
        transfers.begin(1, 0, 1, 10, [] {});
        transfers.set_nic(0, {.send_bytes_s = 1, .latency_s = 1});
        transfers.begin(2, 0, 1, 10, [] {});
        transfers.set_link(0, 1, {.cut = true}, 5);
    }
    EXPECT_TRUE(time.empty());
}

// ---- faults of links ----------------------------------------------------------------------------

TEST_F(VirtualTransfersTest, StandStillWhereCutAndGoOnWhenItHeals) {
    begin(1, 0, 1, 100);
    begin(2, 0, 2, 100);
    time_.at(5, [&] { transfers_.set_link(1, 0, {.cut = true}, 20); });
    time_.at(6, [&] {
        begin(3, 1, 0, 10);
        begin(4, 0, 1, 0);
    });
    // 20 bytes each by 5 s; then the second is alone.
    EXPECT_THAT(finish(), ElementsAre("2 13", "4 25", "3 26", "1 33"));
}

TEST_F(VirtualTransfersTest, ALatencyIsOfThoseThatBeginAndALimitOfAllInOneDirection) {
    begin(1, 0, 1, 40);
    time_.at(1, [&] {
        transfers_.set_link(0, 1, {.latency_s = 3, .bandwidth = 4}, 30);
        begin(2, 0, 1, 40);
        begin(3, 1, 0, 40);
        begin(4, 0, 2, 50);
    });
    // 1 goes with 4 bytes/s until 5 s, then with 2, as has 2; from 17 s on that has 4.
    EXPECT_THAT(finish(), ElementsAre("4 10.3333", "3 15", "1 17", "2 21"));
    begin(1, 0, 1, 40);
    EXPECT_THAT(finish(), ElementsAre("1 36")) << "31 s are over, and it has healed";
}

TEST_F(VirtualTransfersTest, ALossTakesThatShareOfWhatWouldPass) {
    transfers_.set_link(0, 1, {.loss = 0.2});
    transfers_.set_link(2, 3, {.bandwidth = 5, .loss = 0.2});
    begin(1, 0, 1, 80);
    begin(2, 2, 3, 80);
    EXPECT_THAT(finish(), ElementsAre("1 11", "2 21"));
}

TEST_F(VirtualTransfersTest, AllLinksOfAWorkerButThoseForWhichSomethingElseIsSet) {
    transfers_.set_link(0, std::nullopt, {.cut = true}, 50);
    transfers_.set_link(0, 1, {.bandwidth = 5});
    transfers_.set_link(2, 0, {});  // an exemption
    begin(1, 0, 1, 50);
    begin(2, 0, 2, 25);
    begin(3, 3, 0, 50);
    begin(4, 3, 4, 50);
    EXPECT_THAT(finish(), ElementsAre("2 6", "4 6", "1 11", "3 55"));
    // What was exempt is exempt no more.
    transfers_.set_link(2, std::nullopt, {.bandwidth = 2});
    transfers_.set_link(0, std::nullopt, {.latency_s = 1, .bandwidth = 1});
    begin(2, 0, 2, 10);
    begin(3, 2, 3, 10);
    EXPECT_THAT(finish(), ElementsAre("3 61", "2 67"));
    transfers_.set_link(0, 1, {});  // a later call replaces it
    transfers_.set_link(0, std::nullopt, {});
    begin(1, 0, 1, 50);
    EXPECT_THAT(finish(), ElementsAre("1 73"));
    // Where all is well there is nothing to be exempt from.
    transfers_.set_link(3, 4, {});
    transfers_.set_link(3, std::nullopt, {.bandwidth = 5});
    begin(1, 3, 4, 50);
    EXPECT_THAT(finish(), ElementsAre("1 84"));
}

TEST_F(VirtualTransfersTest, ALaterCallTakesTheEndOfTheFirstAway) {
    transfers_.set_link(0, 1, {.cut = true}, 5);
    transfers_.set_link(0, 1, {.cut = true}, 20);
    begin(1, 0, 1, 10);
    time_.at(10, [&] {
        transfers_.set_link(2, 3, {.cut = true}, 5);
        transfers_.set_link(3, 2, {});
        begin(2, 2, 3, 10);
    });
    EXPECT_THAT(finish(), ElementsAre("2 12", "1 21"));
}

// ---- at random ----------------------------------------------------------------------------------

TEST(VirtualTransfers, OneSenderAndManyReceiversTakeWhatTheNarrowestPortTakes) {
    for (const double send : {1e9, 3e9, 64e9})
        for (const int receivers : {1, 2, 3, 7, 64}) {
            const double receive = 1e9, bytes = 5e8;
            EventQueue time;
            VirtualTransfers transfers(time);
            transfers.set_nic(0, {.send_bytes_s = send});
            int arrived = 0;
            for (int to = 1; to <= receivers; ++to) {
                transfers.set_nic(to, {.receive_bytes_s = receive});
                transfers.begin(static_cast<std::uint64_t>(to), 0, to, bytes, [&] { ++arrived; });
            }
            while (time.next()) {
            }
            EXPECT_EQ(arrived, receivers);
            const double expected_s = std::max(bytes / receive, receivers * bytes / send);
            EXPECT_NEAR(time.now(), expected_s, 1e-12 * expected_s);
        }
}

/// Workers with ports of all kinds, and transfers among them that begin at random moments.
struct RandomTransfers {
    struct Asked {
        WorkerId from, to;
        double begun_s, bytes;
        int arrived = 0;
        double arrived_s = 0;
    };

    explicit RandomTransfers(std::uint64_t seed) : random(seed) {
        std::uniform_real_distribution<double> bandwidth(1, 10), latency(0, 2), moment(0, 20),
            size(1, 50);
        const int workers = 2 + static_cast<int>(random() % 8);
        for (int i = 0; i < workers; ++i)
            nics.push_back({bandwidth(random), bandwidth(random), latency(random)});
        for (int i = 0; i < 40; ++i) {
            const int from = static_cast<int>(random() % nics.size());
            const int to = (from + 1 + static_cast<int>(random() % (nics.size() - 1))) % workers;
            asked.push_back({from, to, moment(random), random() % 8 == 0 ? 0 : size(random)});
        }
    }
    /// Begins them all when it is time.
    void ask(EventQueue& time, VirtualTransfers& transfers) {
        for (std::size_t i = 0; i < nics.size(); ++i)
            transfers.set_nic(static_cast<WorkerId>(i), nics[i]);
        for (std::size_t i = 0; i < asked.size(); ++i)
            time.at(asked[i].begun_s, [this, &time, &transfers, i] {
                const auto& [from, to, begun_s, bytes, arrived, arrived_s] = asked[i];
                transfers.begin(i, from, to, bytes, [this, &time, i] {
                    ++asked[i].arrived;
                    asked[i].arrived_s = time.now();
                    order.push_back(i);
                });
            });
    }
    double latency_s(const Asked& of) const {
        return nics[static_cast<std::size_t>(of.from)].latency_s +
               nics[static_cast<std::size_t>(of.to)].latency_s;
    }

    std::mt19937_64 random;
    std::vector<Nic> nics;
    std::vector<Asked> asked;
    std::vector<std::size_t> order;  ///< in which they arrived
};

TEST(VirtualTransfers, RandomOnesArriveOnceAndWhenTheTextbookSaysSo) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        EventQueue time;
        VirtualTransfers transfers(time);
        RandomTransfers run(seed);
        run.ask(time, transfers);
        while (time.next()) {
        }
        std::vector<double> bandwidths;
        for (const Nic& nic : run.nics)
            bandwidths.insert(bandwidths.end(), {nic.send_bytes_s, nic.receive_bytes_s});
        std::vector<testing::Fluid> fluids;
        for (const auto& transfer : run.asked) {
            const double begins_s = transfer.begun_s + run.latency_s(transfer);
            fluids.push_back({.begins_s = begins_s,
                              .bytes = transfer.bytes,
                              .links = {2 * transfer.from, 2 * transfer.to + 1},
                              .ends_s = begins_s});
        }
        testing::let_flow(fluids, bandwidths);
        for (std::size_t i = 0; i < fluids.size(); ++i) {
            EXPECT_EQ(run.asked[i].arrived, 1);
            EXPECT_NEAR(run.asked[i].arrived_s, fluids[i].ends_s, 1e-9 * fluids[i].ends_s);
        }
    }
}

/// The moments and the order of arrivals, and what stops returned, of a run with faults of links
/// and workers that die; `beside` is called between any two events.
std::vector<double> run_with_faults(std::uint64_t seed, const std::function<void()>& beside) {
    EventQueue time;
    VirtualTransfers transfers(time);
    RandomTransfers run(seed);
    run.ask(time, transfers);
    std::vector<double> seen;
    std::vector<int> stopped(run.asked.size(), 0);
    const auto note = [&](std::uint64_t id, std::uint64_t done) {
        EXPECT_LE(static_cast<double>(done), run.asked[id].bytes);
        ++stopped[id];
        seen.push_back(static_cast<double>(done));
    };
    const auto any = [&] { return static_cast<WorkerId>(run.random() % run.nics.size()); };
    for (int i = 0; i < 30; ++i)
        time.at(static_cast<double>(run.random() % 40), [&] {
            const WorkerId worker = any(), peer = any();
            LinkTrouble trouble;
            switch (run.random() % 6) {
                case 0:
                    for (const auto& [id, done] : transfers.stop_all_of(worker)) note(id, done);
                    return;
                case 1: {
                    const std::uint64_t id = run.random() % run.asked.size();
                    const auto before = transfers.under_way();
                    const auto done = transfers.stop(id);
                    if (transfers.under_way() < before) note(id, done);
                    return;
                }
                case 2:
                    trouble.cut = true;
                    break;
                case 3:
                    trouble = {.latency_s = 1, .bandwidth = 0.5};
                    break;
                case 4:
                    trouble.loss = 0.5;
                    break;
                default:
                    break;  // heals
            }
            const double for_s = static_cast<double>(run.random() % 10);
            if (worker == peer)
                transfers.set_link(worker, std::nullopt, trouble, for_s);
            else
                transfers.set_link(worker, peer, trouble, for_s);
        });
    while (time.next()) beside();
    EXPECT_TRUE(time.empty());
    EXPECT_EQ(transfers.under_way(), 0U);
    for (std::size_t i = 0; i < stopped.size(); ++i) {
        const auto& transfer = run.asked[i];
        EXPECT_EQ(transfer.arrived + stopped[i], 1) << "each ends once";
        if (!transfer.arrived) continue;
        // No faster than alone without any trouble.
        const double rate =
            std::min(run.nics[static_cast<std::size_t>(transfer.from)].send_bytes_s,
                     run.nics[static_cast<std::size_t>(transfer.to)].receive_bytes_s);
        const double least_s = run.latency_s(transfer) + transfer.bytes / rate;
        EXPECT_GE(transfer.arrived_s - transfer.begun_s, least_s - 1e-9);
    }
    for (const auto i : run.order) {
        seen.push_back(static_cast<double>(i));
        seen.push_back(run.asked[i].arrived_s);
    }
    return seen;
}

TEST(VirtualTransfers, UnderFaultsEachEndsOnceAndTheSameAgainBesideOthers) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        const auto alone = run_with_faults(seed, [] {});
        EventQueue other_time;
        VirtualTransfers other(other_time);
        RandomTransfers other_run(seed + 1);
        other_run.ask(other_time, other);
        EXPECT_EQ(run_with_faults(seed, [&] { other_time.next(); }), alone);
    }
}

TEST(VirtualTransfers, ThoseThatArriveTogetherArriveInTheOrderInWhichTheirFirstBytesDid) {
    EventQueue time;
    VirtualTransfers transfers(time);
    for (WorkerId worker = 0; worker < 20; ++worker) transfers.set_nic(worker, {3, 3, 0.1});
    std::vector<int> arrived;
    for (const int id : {7, 3, 9, 1, 5})
        transfers.begin(static_cast<std::uint64_t>(id), 2 * id, 2 * id + 1, 10,
                        [&arrived, id] { arrived.push_back(id); });
    while (time.next()) {
    }
    EXPECT_THAT(arrived, ElementsAre(7, 3, 9, 1, 5));
}

}  // namespace
}  // namespace assay::drive
