// A fleet of servers in virtual time: the loader decides (method/loader), servers start as modelled
// ones do and take requests one by one, under a plan of faults. What came of each request and of
// each server, as data.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "impls/foundry/method/loader/loader.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::foundry {

/// Seconds. A server's start is `boot_s` where the loader has it spawned, the rest, and its graphs.
struct FleetSetup {
    LoaderSettings loader;              ///< with the graph of each request …
    std::vector<double> arrivals_s;     ///< … and when it comes
    std::vector<std::size_t> group_of;  ///< of graphs
    Costs costs;
    double rest_s = 0;          ///< of a start, what is no graph: process, context, weights, …
    double not_repeated_s = 0;  ///< of that, what later servers do not do again
    double boot_s = 0, detect_s = 0;
    double request_s = 0;                     ///< a request holds its server for so long
    std::optional<double> short_request_s{};  ///< while fewer servers are ready than at first
    FaultPlan faults;
};

struct FleetCourse {
    static constexpr double never = std::numeric_limits<double>::infinity();
    struct Server {
        double spawned_s = 0, ready_s = never;
        double ended_s = 0;  ///< its death was known, or the last request served
    };
    std::vector<double> served_s;  ///< by request
    std::vector<Server> servers;   ///< as they were spawned; the first are there at 0
    double ended_s = 0;
    long struck = 0;  ///< faults
};

/// Throws SampleError where a request is not served, or not with its graph's result.
FleetCourse run_fleet(const FleetSetup& setup);

}  // namespace assay::foundry
