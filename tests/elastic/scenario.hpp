// A row of a system's table of scenarios: what strikes a training, and what its controller has
// counted in the end. The same row runs with processes, in virtual time, or in both.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "suite/drive/campaign/campaign.hpp"
#include "suite/drive/messages.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::elastic {

/// What a fault makes a controller count.
struct Counts {
    long deaths = 0, joins = 0, leaves = 0;
    long discarded = 0;        ///< attempts at a step that were thrown away
    long retries = 0;          ///< of steps that failed on live workers
    long evictions = 0;        ///< of workers that could not be reached
    long fallbacks = 0;        ///< to a checkpoint or to the beginning; …
    long rolled_back = 0;      ///< … committed steps undone by those
    long bad_checkpoints = 0;  ///< that could not be read, where those are counted
    bool operator==(const Counts&) const = default;
};
ASSAY_FIELDS(Counts, deaths, joins, leaves, discarded, retries, evictions, fallbacks, rolled_back,
             bad_checkpoints)

// Of a death in the middle of a step, and of a step that is tried again.
inline constexpr Counts one_death{.deaths = 1, .discarded = 1};
inline constexpr Counts one_retry{.discarded = 1, .retries = 1};

inline std::ostream& operator<<(std::ostream& out, const Counts& counts) {
    return out << drive::to_json(counts);
}

/// Of a controller. `first`: workers at the start, where it counts them among those that joined.
template <class ControllerCounts>
Counts counts_of(const ControllerCounts& of, long first = 0) {
    long bad_checkpoints = 0;
    if constexpr (requires { of.bad_checkpoints; }) bad_checkpoints = of.bad_checkpoints;
    return {.deaths = of.deaths,
            .joins = of.joins - first,
            .leaves = of.leaves,
            .discarded = of.discarded,
            .retries = of.retries,
            .evictions = of.evictions,
            .fallbacks = of.fallbacks,
            .rolled_back = of.rolled_back,
            .bad_checkpoints = bad_checkpoints};
}

/// Where a row means something, and is worth its time: with processes a second or two.
enum class Clock { simulated, real, both };

template <class Settings, class CountsOfSystem = Counts>
struct Scenario {
    Clock clock;
    const char* name;
    const char* faults;
    CountsOfSystem counts = {};
    Settings settings = {};
};
/// So that GoogleTest names it.
template <class... T>
std::ostream& operator<<(std::ostream& out, const Scenario<T...>& scenario) {
    return out << scenario.faults;
}

/// Of a table those that run on a clock.
template <class Row>
std::vector<Row> rows_of(Clock clock, std::vector<Row> table) {
    std::erase_if(table,
                  [&](const Row& row) { return row.clock != clock && row.clock != Clock::both; });
    return table;
}

/// Of a course in virtual time: it has come to its end and broken no rule, every fault has struck
/// once, and the controller has counted what the row says.
template <class... T>
void expect_outcome(const Scenario<T...>& row, const FaultPlan& faults,
                    drive::SeedOutcome outcome) {
    EXPECT_TRUE(outcome.ok) << outcome.why;
    EXPECT_EQ(outcome.counts["finished"], 1);
    auto counts = row.counts;
    for_each_field(counts, [&](std::string_view name, long& count) {
        count = outcome.counts[std::string(name)];
    });
    EXPECT_EQ(counts, row.counts);
    std::map<std::string, long> planned;
    for (const Fault& fault : faults.faults)
        planned["fault." + std::string(to_string(fault.kind))] += fault.count;
    std::erase_if(outcome.counts, [](const auto& one) { return !one.first.starts_with("fault."); });
    EXPECT_EQ(outcome.counts, planned);
}

}  // namespace assay::elastic
