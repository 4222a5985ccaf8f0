#include "suite/scenario/trace_roster.hpp"

#include "suite/scenario/trace_limits.hpp"

namespace assay {

std::string TraceRoster::record(double t_s, bool add, const std::string& node) {
    if (trace_.events.size() >= most_trace_events)
        return "more than " + std::to_string(most_trace_events) + " events";
    trace_.events.push_back({t_s, add, node});
    return "";
}

std::string TraceRoster::arrive(double t_s, const std::string& node) {
    if (arrival_.count(node)) return "node '" + node + "' is added, but it is there already";
    if (alive() >= most_trace_nodes)
        return "more than " + std::to_string(most_trace_nodes) + " nodes at once";
    arrival_[node] = arrivals_;
    by_age_[arrivals_] = node;
    used_.insert(node);
    ++arrivals_;
    return record(t_s, true, node);
}

std::string TraceRoster::arrive(double t_s) {
    long number = arrivals_ + 1;
    while (used_.count("node" + std::to_string(number))) ++number;
    return arrive(t_s, "node" + std::to_string(number));
}

std::string TraceRoster::leave(double t_s, const std::string& node) {
    const auto found = arrival_.find(node);
    if (found == arrival_.end()) return "node '" + node + "' is removed, but it is not there";
    by_age_.erase(found->second);
    arrival_.erase(found);
    return record(t_s, false, node);
}

std::string TraceRoster::youngest_leaves(double t_s) {
    if (by_age_.empty()) return "a node is removed, but none is there";
    return leave(t_s, std::string(by_age_.rbegin()->second));
}

}  // namespace assay
