// Who is there while a trace is being read: appends events to it, names nodes that the source does
// not name, and refuses what cannot be.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "suite/scenario/availability_trace.hpp"

namespace assay {

class TraceRoster {
  public:
    /// Appends to `trace`, which must outlive the roster.
    explicit TraceRoster(AvailabilityTrace& trace) : trace_(trace) {}

    // Each returns what is wrong, or an empty text.
    std::string arrive(double t_s, const std::string& node);
    std::string arrive(double t_s);  ///< named "nodeK", K the next number whose name was never used
    std::string leave(double t_s, const std::string& node);
    std::string youngest_leaves(double t_s);

    int alive() const { return static_cast<int>(by_age_.size()); }

  private:
    std::string record(double t_s, bool add, const std::string& node);

    AvailabilityTrace& trace_;
    std::map<long, std::string> by_age_;  // number of the arrival → name
    std::unordered_map<std::string, long> arrival_;
    std::unordered_set<std::string> used_;
    long arrivals_ = 0;
};

}  // namespace assay
