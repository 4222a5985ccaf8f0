// Segments, statistics and mappings, first on small traces by hand, then as properties of random
// ones: a fault plan that its own rules accept, and that gives the mapped counts when it is
// replayed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "suite/scenario/traces/availability_trace.hpp"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

AvailabilityTrace trace_of(const std::string& csv) { return read_bamboo_csv(csv, "hand.csv"); }

// 5 nodes; 10 s: d lost; 20 s: a, b lost, f, g added; 30 s: b back.
const char* const by_hand =
    "0,add,a\n0,add,b\n0,add,c\n0,add,d\n0,add,e\n10000,remove,d\n"
    "20000,add,f\n20000,remove,a\n20000,remove,b\n20000,add,g\n30000,add,b\n40000,remove,c\n";

TEST(TraceStatistics, ByHand) {
    const TraceStatistics found = trace_statistics(trace_of(by_hand));
    EXPECT_EQ(found.initial, 5);
    EXPECT_EQ(found.most, 5);
    EXPECT_EQ(found.fewest, 4);
    EXPECT_DOUBLE_EQ(found.mean, (5 * 10 + 4 * 10 + 4 * 10 + 5 * 10) / 40.0);
    EXPECT_EQ(found.losses, 4);
    EXPECT_EQ(found.additions, 3);
    EXPECT_EQ(found.largest_loss, 2);
    EXPECT_DOUBLE_EQ(found.largest_loss_share, 0.5);
    EXPECT_EQ(found.largest_loss_at_s, 20);
    EXPECT_DOUBLE_EQ(found.mean_between_losses_s, 15);
}

TEST(TraceStatistics, NothingHappens) {
    const TraceStatistics found = trace_statistics(trace_of("0,add,a\n0,add,b\n0,remove,b\n"));
    EXPECT_EQ(found.initial, 1);
    EXPECT_EQ(found.mean, 1);
    EXPECT_EQ(found.losses, 0);
    EXPECT_EQ(found.mean_between_losses_s, 0);
    EXPECT_EQ(trace_statistics(AvailabilityTrace{}).initial, 0);
}

TEST(TraceStatistics, RefusesTracesThatCannotBe) {
    AvailabilityTrace twice{"x", "", 1, {{0, true, "a"}, {1, true, "a"}}};
    EXPECT_THROW(trace_statistics(twice), UserError);
    AvailabilityTrace back{"x", "", 1, {{1, true, "a"}, {0, true, "b"}}};
    EXPECT_THROW(trace_statistics(back), UserError);
}

TEST(TraceSegment, WhoIsAliveIsAddedAtZeroInTheOrderOfArrival) {
    const AvailabilityTrace part = segment(trace_of(by_hand), 20, 30);
    EXPECT_EQ(part.duration_s, 10);
    EXPECT_THAT(part.events, ElementsAre(TraceEvent{0, true, "c"}, TraceEvent{0, true, "e"},
                                         TraceEvent{0, true, "f"}, TraceEvent{0, true, "g"},
                                         TraceEvent{10, true, "b"}));
    const AvailabilityTrace whole = trace_of(by_hand);
    EXPECT_EQ(segment(whole, 0, 40).events, whole.events);
    EXPECT_THROW(segment(whole, 0, 41), UserError);
    EXPECT_THROW(segment(whole, 20, 20), UserError);
    EXPECT_THROW(segment(whole, -1, 20), UserError);
}

std::vector<int> alive(NodeMapping mapping, int cap, int floor) {
    return map_trace(trace_of(by_hand), mapping, cap, floor, 1).alive;
}

TEST(TraceMapping, CountsByHand) {
    EXPECT_THAT(alive(NodeMapping::min, 4, 0), ElementsAre(4));
    EXPECT_THAT(alive(NodeMapping::min, 9, 0), ElementsAre(5, 4, 5, 4));
    EXPECT_THAT(alive(NodeMapping::delta_clamped, 3, 1), ElementsAre(3, 2, 3, 2));
    EXPECT_THAT(alive(NodeMapping::delta_clamped, 4, 3), ElementsAre(4, 3, 4, 3));
    EXPECT_THAT(alive(NodeMapping::tracked, 3, 0), ElementsAre(3, 1, 2, 1));
    EXPECT_THAT(alive(NodeMapping::scaled, 3, 0), ElementsAre(3, 2, 3, 2));
    EXPECT_THAT(alive(NodeMapping::scaled, 10, 0), ElementsAre(10, 8, 10, 8));
}

TEST(TraceMapping, FaultsByHand) {
    const MappedTrace tracked = map_trace(trace_of(by_hand), NodeMapping::tracked, 3, 0, 1);
    EXPECT_EQ(tracked.initial_workers, 3);
    EXPECT_THAT(tracked.t_s, ElementsAre(0, 20, 30, 40));
    EXPECT_EQ(tracked.faults, parse_fault_plan("kill:rank=0@t=20;kill:rank=1@t=20;"
                                               "join:count=1@t=30;kill:rank=2@t=40"));
    // Two of the four leave at 20 s before two others come.
    const FaultPlan min = map_trace(trace_of(by_hand), NodeMapping::min, 4, 0, 1).faults;
    ASSERT_EQ(min.faults.size(), 3U);
    EXPECT_EQ(min.faults[0].kind, FaultKind::kill);
    EXPECT_EQ(min.faults[1].kind, FaultKind::kill);
    EXPECT_NE(min.faults[0].rank, min.faults[1].rank);
    EXPECT_EQ(to_string(min.faults[2]), "join:count=2@t=20");
}

TEST(TraceMapping, SaysWhenNobodyWouldBeLeft) {
    const auto complaint = [](const std::string& csv, NodeMapping mapping, int cap,
                              int floor) -> std::string {
        try {
            map_trace(trace_of(csv), mapping, cap, floor, 1);
        } catch (const UserError& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_THAT(complaint(by_hand, NodeMapping::tracked, 2, 0),
                HasSubstr("trace 'hand' mapped onto at most 2 workers (tracked) leaves nobody "
                          "alive at 20 s (minute 0.3333)"));
    // Others come in the same second, but nobody is there to hand them the training.
    const std::string replaced = "0,add,a\n60000,remove,a\n60000,add,b\n";
    for (const NodeMapping mapping :
         {NodeMapping::min, NodeMapping::delta_clamped, NodeMapping::tracked, NodeMapping::scaled})
        EXPECT_THAT(complaint(replaced, mapping, 2, 0), HasSubstr("at 60 s (minute 1)"));
    EXPECT_EQ(complaint(replaced, NodeMapping::delta_clamped, 2, 1), "accepted");
    EXPECT_THAT(complaint("1000,add,a", NodeMapping::min, 2, 0), HasSubstr("no node at time 0"));
    EXPECT_THAT(complaint("0,add,a\n1,add,b\n1,add,c\n1,add,d", NodeMapping::scaled, 1, 0),
                HasSubstr("nobody alive at 0 s"));
    EXPECT_THAT(complaint(by_hand, NodeMapping::min, 0, 0), HasSubstr("1 to 10000 workers"));
    EXPECT_THAT(complaint(by_hand, NodeMapping::delta_clamped, 3, 4),
                HasSubstr("0 to 3 workers, not 4"));
    EXPECT_EQ(complaint(by_hand, NodeMapping::min, 4, 5), "accepted") << "it has no floor";
}

TEST(TraceMapping, TheSeedDecidesWhoIsLostAndNothingElse) {
    TraceProcess process;
    process.nodes = 30;
    process.hours = 4;
    const AvailabilityTrace trace = generate_trace(process);
    const auto mapped = [&](std::uint64_t seed) {
        return map_trace(trace, NodeMapping::delta_clamped, 12, 4, seed);
    };
    std::set<int> first_victims;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        EXPECT_EQ(mapped(seed).faults, mapped(seed).faults);
        EXPECT_EQ(mapped(seed).alive, mapped(1).alive);
        first_victims.insert(*mapped(seed).faults.faults.front().rank);
    }
    EXPECT_GE(first_victims.size(), 10U) << "of 12; each is missed with probability 0.5 %";
}

// The counts after every moment of a plan, replayed by its own rules.
std::map<double, int> replayed(const MappedTrace& mapped) {
    std::map<double, int> after{{0, mapped.initial_workers}};
    int count = mapped.initial_workers;
    for (const Fault& fault : mapped.faults.faults)
        after[*fault.t_s] = count += fault.kind == FaultKind::join ? fault.count : -1;
    return after;
}

int at(const MappedTrace& mapped, double t_s) {
    const auto next = std::upper_bound(mapped.t_s.begin(), mapped.t_s.end(), t_s);
    return mapped.alive[static_cast<std::size_t>(next - mapped.t_s.begin()) - 1];
}

TEST(TraceMapping, PlansOfRandomTracesAreValidAndGiveTheCounts) {
    int accepted = 0, refused = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        TraceProcess process;
        process.kind = static_cast<TraceProcess::Kind>(seed % 3);
        process.nodes = 3 + static_cast<int>(seed % 20);
        process.hours = 5;
        process.loss_per_hour = 0.4;
        process.seed = seed;
        const AvailabilityTrace trace = generate_trace(process);
        for (const NodeMapping mapping : {NodeMapping::min, NodeMapping::delta_clamped,
                                          NodeMapping::tracked, NodeMapping::scaled}) {
            SCOPED_TRACE(trace.id + " " + std::string(to_string(mapping)));
            const int cap = 2 + static_cast<int>(seed % 7), floor = 1;
            try {
                const MappedTrace mapped = map_trace(trace, mapping, cap, floor, seed);
                ++accepted;
                EXPECT_NO_THROW(validate(mapped.faults, mapped.initial_workers));
                for (const auto& [t_s, count] : replayed(mapped)) {
                    EXPECT_EQ(count, at(mapped, t_s)) << t_s;
                    EXPECT_GE(count, 1);
                    EXPECT_LE(count, cap);
                }
            } catch (const UserError&) {
                EXPECT_NE(mapping, NodeMapping::delta_clamped) << "it has a floor of 1";
                ++refused;
            }
        }
    }
    EXPECT_GT(accepted, 80);
    EXPECT_GT(refused, 0);
}

TEST(TraceMapping, NamesSurviveRoundTrips) {
    for (const NodeMapping mapping :
         {NodeMapping::min, NodeMapping::delta_clamped, NodeMapping::tracked, NodeMapping::scaled})
        EXPECT_EQ(of_word<NodeMapping>(to_string(mapping)), mapping);
    EXPECT_FALSE(of_word<NodeMapping>("max"));
}

}  // namespace
}  // namespace assay
