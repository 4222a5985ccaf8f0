// Cuts a part out of a trace.
#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "suite/scenario/availability_trace.hpp"

namespace assay {

AvailabilityTrace segment(const AvailabilityTrace& trace, double from_s, double to_s) {
    if (!(from_s >= 0 && from_s < to_s && to_s <= trace.duration_s))
        throw UserError(fmt::format(
            "trace '{}': no part from {} s to {} s; give 0 <= from < to <= {} s ({:.1f} min)",
            trace.id, from_s, to_s, trace.duration_s, trace.duration_s / 60));
    AvailabilityTrace part;
    part.id = fmt::format("{}@{:g}-{:g}min", trace.id, from_s / 60, to_s / 60);
    part.says = fmt::format("minutes {:g} to {:g} of: {}", from_s / 60, to_s / 60, trace.says);
    part.duration_s = to_s - from_s;

    std::map<std::size_t, std::string> there;  // by arrival: the order in which they are added at 0
    std::unordered_map<std::string, std::size_t> arrival;
    std::size_t next = 0;
    for (; next < trace.events.size() && trace.events[next].t_s <= from_s; ++next) {
        const TraceEvent& event = trace.events[next];
        if (event.add) {
            arrival[event.node] = next;
            there[next] = event.node;
        } else {
            there.erase(arrival[event.node]);
        }
    }
    for (const auto& [order, node] : there) part.events.push_back({0, true, node});
    for (; next < trace.events.size() && trace.events[next].t_s <= to_s; ++next) {
        part.events.push_back(trace.events[next]);
        part.events.back().t_s -= from_s;
    }
    return part;
}

}  // namespace assay
