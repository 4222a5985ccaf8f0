// What holds for every trace that a reader lets through; aborts where it does not.
#pragma once

#include <cstdlib>

#include "suite/scenario/traces/availability_trace.hpp"

namespace assay::testing {

inline void check_trace(const AvailabilityTrace& trace) {
    const TraceStatistics found =
        trace_statistics(trace);  // refuses impossible traces: would escape
    if (found.fewest < 0 || found.initial > found.most || found.mean > found.most) std::abort();
    if (!trace.events.empty() && trace.events.back().t_s > trace.duration_s) std::abort();
    if (trace.events.size() > 2000) return;  // the plan's rules take quadratic time
    try {
        const AvailabilityTrace back = read_trace_toml(to_toml(trace), "t");
        if (back.events != trace.events || back.duration_s != trace.duration_s) std::abort();
        const MappedTrace mapped = map_trace(trace, NodeMapping::delta_clamped, 8, 1, 1);
        validate(mapped.faults, mapped.initial_workers);
        if (parse_fault_plan(to_string(mapped.faults)) != mapped.faults) std::abort();
    } catch (const TraceError&) {
        std::abort();
    } catch (const ScenarioError&) {
        std::abort();
    } catch (const UserError&) {  // nobody at time 0
    }
}

}  // namespace assay::testing
