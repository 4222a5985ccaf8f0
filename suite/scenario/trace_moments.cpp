#include "suite/scenario/trace_moments.hpp"

#include <algorithm>
#include <unordered_set>

namespace assay {

std::vector<TraceMoment> moments(const AvailabilityTrace& trace) {
    std::vector<TraceMoment> found{{}};
    std::unordered_set<std::string> alive;
    for (const TraceEvent& event : trace.events) {
        if (!(event.t_s >= found.back().t_s))
            throw UserError("trace '" + trace.id + "': its events are not in the order of time");
        if (event.t_s > found.back().t_s) found.push_back({event.t_s, {}, {}});
        TraceMoment& moment = found.back();
        if (event.add ? !alive.insert(event.node).second : alive.erase(event.node) == 0)
            throw UserError(
                "trace '" + trace.id + "': node '" + event.node + "' " +
                (event.add ? "is added while it is there" : "is removed while it is not there"));
        if (event.add) {
            moment.added.push_back(event.node);
            continue;
        }
        const auto arrival = std::find(moment.added.begin(), moment.added.end(), event.node);
        if (arrival == moment.added.end())
            moment.lost.push_back(event.node);
        else
            moment.added.erase(arrival);
    }
    return found;
}

}  // namespace assay
