// A move is Export, exported or refused, Give, taken or refused, and meanwhile either engine may be
// lost, the request end or be cancelled: all orders of that with up to two such troubles.
#include <gtest/gtest.h>

#include <array>
#include <bitset>

#include "toy_cluster.hpp"

namespace assay::decode {
namespace {

constexpr Seat source = 1, destination = 0;  // as ToyChooser chooses
constexpr Number moved = 0;

enum Trouble {
    source_refuses,
    destination_refuses,
    source_ends,
    source_fails,
    lose_source,
    lose_source_and_messages,
    lose_destination,
    lose_destination_and_messages,
    cancel,
    take_back,
    close_destination,
    move_back,
    troubles
};
using Troubles = std::bitset<troubles>;

struct Interleavings {
    std::size_t most_troubles = 2;
    int ends = 0;
    std::map<Done::How, int> how;
    std::array<int, troubles> met{};

    void follow(const ToyCluster& cluster, Troubles had, bool turned) {
        if (testing::Test::HasFailure()) return;
        bool goes_on = false;
        // Each goes on in a copy.
        const auto next = [&](auto&& event, bool turns = false) {
            ToyCluster copy = cluster;
            event(copy);
            goes_on = true;
            follow(copy, had, turns);
        };
        if (!cluster.naive.orders.empty() || (!turned && !cluster.naive.pending().empty()))
            next([](ToyCluster& copy) { copy.turn(); }, true);
        for (const Seat seat : {destination, source}) {
            const auto there = cluster.engines.find(seat);
            if (there != cluster.engines.end() && !there->second.inbox.empty())
                next([&](ToyCluster& c) { c.engines.at(seat).answer(c.states, false); });
            if (there != cluster.engines.end() && !there->second.outbox.empty())
                next([&](ToyCluster& c) { c.hear(seat); });
            if (const auto late = cluster.late.find(seat);
                late != cluster.late.end() && !late->second.empty())
                next([&](ToyCluster& c) { c.hear(seat, true); });
        }
        const bool was_there = goes_on;
        if (had.count() < most_troubles && was_there)
            for (int trouble = 0; trouble < troubles; ++trouble)
                if (!had[trouble] && can(cluster, static_cast<Trouble>(trouble))) {
                    ++met[static_cast<std::size_t>(trouble)];
                    ToyCluster copy = cluster;
                    befall(copy, static_cast<Trouble>(trouble));
                    follow(copy, Troubles(had).set(trouble), false);
                }
        if (!goes_on) end(cluster, had);
    }

  private:
    static bool can(const ToyCluster& cluster, Trouble trouble) {
        const auto has = [&](Seat seat, auto ToyEngine::*what) {
            const auto there = cluster.engines.find(seat);
            return there != cluster.engines.end() && !(there->second.*what).empty();
        };
        switch (trouble) {
            case source_refuses:
                return has(source, &ToyEngine::inbox);
            case destination_refuses:
                return has(destination, &ToyEngine::inbox);
            case source_ends:
            case source_fails:
                return has(source, &ToyEngine::works);
            case lose_source:
            case lose_source_and_messages:
                return cluster.engines.contains(source);
            case lose_destination:
            case lose_destination_and_messages:
                return cluster.engines.contains(destination);
            case close_destination:
                return cluster.engines.contains(destination);
            default:
                return true;
        }
    }

    static void befall(ToyCluster& cluster, Trouble trouble) {
        switch (trouble) {
            case source_refuses:
                return cluster.engines.at(source).answer(cluster.states, true);
            case destination_refuses:
                return cluster.engines.at(destination).answer(cluster.states, true);
            case source_ends:
            case source_fails: {
                ToyEngine& engine = cluster.engines.at(source);
                return engine.make(engine.works.begin()->first, 99, trouble == source_fails);
            }
            case lose_source:
            case lose_source_and_messages:
                cluster.lost(source, trouble == lose_source_and_messages);
                return cluster.there(source, 0, 4);
            case lose_destination:
            case lose_destination_and_messages:
                // Not there again before the end: what was to go there goes back.
                return cluster.lost(destination, trouble == lose_destination_and_messages);
            case cancel:
                return cluster.cancel(moved);
            case take_back:
                return cluster.take_back(moved);
            case close_destination:
                return cluster.open(destination, false);
            case move_back:
                return cluster.move(moved, source, true);
            case troubles:
                break;
        }
    }

    void end(ToyCluster cluster, const Troubles& had) {
        ++ends;
        // Where the other engine has refused it, it waits for this one.
        if (cluster.engines.contains(destination)) cluster.open(destination, true);
        cluster.finish();
        if (testing::Test::HasFatalFailure()) return;
        const Done::How is = cluster.done.at(moved);
        ++how[is];
        const bool lost = had[lose_source] || had[lose_source_and_messages] ||
                          had[lose_destination] || had[lose_destination_and_messages];
        EXPECT_TRUE(
            is == Done::How::ended || (is == Done::How::cancelled && had[cancel]) ||
            (is == Done::How::dropped && lost && cluster.pool.asked(moved).loss == Loss::drop) ||
            (is == Done::How::failed &&
             (had[source_fails] || had[source_refuses] || had[destination_refuses])));
        if (testing::Test::HasFailure())
            for (const std::string& line : cluster.log) std::printf("    %s\n", line.c_str());
    }
};

class PoolMoves : public testing::TestWithParam<std::tuple<Loss, bool>> {};

TEST_P(PoolMoves, EveryStateIsGivenOrDiscardedOnce) {
    const auto [loss, was_taken] = GetParam();
    ToyCluster cluster;
    cluster.there(destination, 0, 4);
    cluster.there(source, 0, 4);
    cluster.ask({.request = {.prompt = {1}}, .loss = loss});
    cluster.turn();
    ASSERT_EQ(cluster.pool.seat(moved), source);
    ToyEngine& engine = cluster.engines.at(source);
    if (was_taken) {
        engine.answer(cluster.states, false);
        engine.make(0, 1, false);
        while (!engine.outbox.empty()) cluster.hear(source);
    }
    cluster.move(moved, destination, true);

    // What another loss makes of the request needs no second trouble.
    Interleavings all{.most_troubles = loss == Loss::resume ? 2U : 1U};
    all.follow(cluster, {}, false);
    EXPECT_GT(all.ends, 100);
    EXPECT_GT(all.how[Done::How::ended], 30);
    EXPECT_GT(all.how[Done::How::cancelled], 10);
    EXPECT_EQ(all.how.contains(Done::How::dropped), loss == Loss::drop);
    for (const int times : all.met) EXPECT_GT(times, 0);
}
INSTANTIATE_TEST_SUITE_P(, PoolMoves,
                         testing::Combine(testing::Values(Loss::resume, Loss::restart, Loss::drop),
                                          testing::Bool()));

}  // namespace
}  // namespace assay::decode
