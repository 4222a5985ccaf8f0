// Who is there while a trace is being read: appends events to it, names nodes that the source does
// not name, and refuses what cannot be.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "suite/scenario/traces/availability_trace.hpp"

namespace assay {

class TraceRoster {
  public:
    /// Appends to `trace`, which must outlive the roster.
    explicit TraceRoster(AvailabilityTrace& trace) : trace_(trace) {}

    // Each returns what is wrong, or an empty text.

    std::string arrive(double t_s, const std::string& node) {
        if (arrival_.count(node)) return "node '" + node + "' is added, but it is there already";
        if (alive() >= most_trace_nodes)
            return "more than " + std::to_string(most_trace_nodes) + " nodes at once";
        arrival_[node] = arrivals_;
        by_age_[arrivals_] = node;
        used_.insert(node);
        ++arrivals_;
        return record(t_s, true, node);
    }

    /// Named "nodeK", K the next number whose name was never used.
    std::string arrive(double t_s) {
        long number = arrivals_ + 1;
        while (used_.count("node" + std::to_string(number))) ++number;
        return arrive(t_s, "node" + std::to_string(number));
    }

    std::string leave(double t_s, const std::string& node) {
        const auto found = arrival_.find(node);
        if (found == arrival_.end()) return "node '" + node + "' is removed, but it is not there";
        by_age_.erase(found->second);
        arrival_.erase(found);
        return record(t_s, false, node);
    }

    std::string youngest_leaves(double t_s) {
        if (by_age_.empty()) return "a node is removed, but none is there";
        return leave(t_s, std::string(by_age_.rbegin()->second));
    }

    int alive() const { return static_cast<int>(by_age_.size()); }

  private:
    std::string record(double t_s, bool add, const std::string& node) {
        if (trace_.events.size() >= most_trace_events)
            return "more than " + std::to_string(most_trace_events) + " events";
        trace_.events.push_back({t_s, add, node});
        return "";
    }

    AvailabilityTrace& trace_;
    std::map<long, std::string> by_age_;  // number of the arrival → name
    std::unordered_map<std::string, long> arrival_;
    std::unordered_set<std::string> used_;
    long arrivals_ = 0;
};

}  // namespace assay
