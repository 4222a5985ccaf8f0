// Availability traces: nodes that come and go. Read from Bamboo's CSV, SkyPilot-style JSON or our
// own TOML (datasets/traces/*.toml), or generated from a seed; mapped onto a fault plan of joins
// and kills for fewer workers than the trace has nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay {

struct TraceEvent {
    double t_s = 0;
    bool add = true;   ///< false: the node is lost
    std::string node;  ///< a name used again means the node came back
    bool operator==(const TraceEvent&) const = default;
};

struct AvailabilityTrace {
    std::string id;    ///< "p3-80min"
    std::string says;  ///< what it is and where it comes from
    double duration_s = 0;
    std::vector<TraceEvent> events;  ///< ascending in time; at one time in file order
    bool operator==(const AvailabilityTrace&) const = default;
};

// How large an availability trace may be: a mistyped number must not fill the memory.
inline constexpr std::size_t most_trace_events = 1'000'000;
inline constexpr int most_trace_nodes = 10'000;          ///< alive at once
inline constexpr double longest_trace_s = 1e9;           ///< as fault plans
inline constexpr double longest_generated_h = 24 * 366;  ///< a year

class TraceError : public UserError {
    using UserError::UserError;  ///< "FILE:LINE: …"
};

/// `milliseconds,add|remove,node`, no header. Unix seconds or milliseconds are told by the first
/// and count from it.
AvailabilityTrace read_bamboo_csv(std::string_view csv, std::string_view file_name);
/// SkyPilot's spot traces: {"metadata": {"gap_seconds": S, …}, "data": [n0, n1, …]}: number of
/// nodes (or 0/1) available in each interval.
AvailabilityTrace read_skypilot_json(std::string_view json, std::string_view file_name);
/// says, duration_s and [[change]] at_s = …, add = N | remove = N (nodes are named by us, the
/// oldest leaves last); optional nodes = ["name", …] names the first of the N.
AvailabilityTrace read_trace_toml(std::string_view toml, std::string_view file_name);
/// What read_trace_toml() reads back, but for the id, which is the file's name without its ending.
std::string to_toml(const AvailabilityTrace& trace);
/// By the name's ending (.csv, .json, .toml); a shipped trace (datasets/traces), or one brought
/// here by `assay data fetch`, by its id. Throws UserError for what is none of them.
AvailabilityTrace availability_trace(const std::string& id_or_file);

/// Seeded processes; equal on every platform for equal seeds.
struct TraceProcess {
    enum class Kind {
        poisson,  ///< every node lost at `loss_per_hour`; every missing one comes back at
                  ///< `return_per_hour`
        bursts,   ///< losses come in bursts: bursts at `loss_per_hour`, each taking 1 to `burst`
                  ///< nodes
        hourly    ///< Bamboo's: each hour every node is lost with probability `loss_per_hour` at a
                  ///< uniform second; every missing one is requested with probability
                  ///< `return_per_hour` at a uniform second
    };
    Kind kind = Kind::poisson;
    int nodes = 10;  ///< at the start, and at most
    double hours = 1;
    std::optional<double> loss_per_hour;  ///< not given: usual_loss_per_hour(kind)
    double return_per_hour = 0.5;
    bool returns_vary = false;  ///< hourly: instead, drawn anew each hour, evenly from 0 to 1
    int burst = 4;              ///< bursts: each takes 1 to `burst` nodes, all sizes equally likely
    std::uint64_t seed = 1;
};
/// A rate at which ten nodes lose some within an hour, most of the time: bursts 3, the others 0.1.
double usual_loss_per_hour(TraceProcess::Kind);
/// Nodes that come back are new ones, with new names. Throws UserError for numbers out of range.
AvailabilityTrace generate_trace(const TraceProcess& process);
ASSAY_NAMES(TraceProcess::Kind, poisson, bursts, hourly)

/// The part from `from_s` to `to_s`, both included, times counted from `from_s`; who is alive then
/// is added at 0. Throws UserError unless 0 <= from < to <= duration.
AvailabilityTrace segment(const AvailabilityTrace& trace, double from_s, double to_s);

/// What is lost and what arrives at one time, without nodes that come and go within it. Losses take
/// effect before arrivals, as in fault plans.
struct TraceMoment {
    double t_s = 0;
    std::vector<std::string> lost, added;  ///< names, in the order of the events
};

/// Ascending in time; the first is time 0, even when nothing happens then. Throws UserError for a
/// trace whose times descend, or that adds a node that is there or removes one that is not.
std::vector<TraceMoment> moments(const AvailabilityTrace& trace);

struct TraceStatistics {
    int initial = 0;                ///< alive after the events at time 0
    int most = 0, fewest = 0;       ///< alive, after time 0
    double mean = 0;                ///< alive, over time
    int losses = 0, additions = 0;  ///< nodes, after time 0
    int largest_loss = 0;           ///< nodes lost at one moment
    double largest_loss_share = 0;  ///< … of those alive before, at worst
    double largest_loss_at_s = 0;
    double mean_between_losses_s = 0;  ///< between moments with a loss; 0: fewer than two
};
TraceStatistics trace_statistics(const AvailabilityTrace& trace);

/// How the trace's many nodes become our few workers (papers leave it open; DESIGN: an explicit,
/// recorded choice). min: min(alive, cap). delta_clamped: every change is applied to a count kept
/// within [floor, cap]. tracked: the first `cap` names that appear. scaled: round(alive · cap /
/// most). Only delta_clamped has a floor.
enum class NodeMapping { min, delta_clamped, tracked, scaled };
ASSAY_NAMES(NodeMapping, min, delta_clamped, tracked, scaled)

struct MappedTrace {
    int initial_workers = 0;
    FaultPlan faults;  ///< kills and joins keyed by time; workers are named as FaultPlan says
    std::vector<double> t_s;  ///< steps of the mapped count: at t_s[i] …
    std::vector<int> alive;   ///< … there are alive[i] workers
};
/// Who is lost is drawn from `seed` among the live workers (tracked: the trace says who). Throws
/// UserError when nobody would be left at some moment (it says when), or nobody is there at time 0.
MappedTrace map_trace(const AvailabilityTrace& trace, NodeMapping mapping, int cap, int floor,
                      std::uint64_t seed);

}  // namespace assay
