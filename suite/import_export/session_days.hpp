// Results of several days in one file are several sessions: pooled, a regression between them would
// be noise.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

namespace assay {

using Moment = std::chrono::system_clock::time_point;

/// Of each moment the day that its session is called by, "2026-11-21" in UTC. What goes on over
/// midnight, less than four hours after the one before, belongs to the day on which it began, for a
/// day at most.
std::map<Moment, std::string> session_days(const std::set<Moment>& started);

}  // namespace assay
