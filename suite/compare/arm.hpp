// One side of a comparison: series of values with what tells whether they may be compared at all.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "suite/experiment/series.hpp"

namespace assay::compare {

/// One value of one metric of one sample.
struct Point {
    double value = 0;
    /// Points of both sides with equal pair (and a pair on both) belong together: same seed and
    /// round. Empty: belongs to nothing.
    std::string pair;
    std::string sample;  ///< id, for --explain; empty: from a foreign file
    int session = 0;     ///< which of its side's sessions, from 1; 0: of a foreign file
};

/// One metric of one series.
struct Series {
    RowId name;
    std::string unit;
    Direction better = Direction::none;
    bool deterministic = false;
    /// What affects performance without being part of what people call it: profile, provenance,
    /// scenario, hardware, calibration, data; of Google Benchmark, from a file or imported:
    /// processors, caches, build type. Series whose contexts differ are never compared silently.
    std::map<std::string, std::string> context;
    std::vector<Point> points;          ///< of samples that are ok, in order of time
    int failed = 0;                     ///< samples that failed
    int excluded = 0;                   ///< samples marked invalid (slow clock, throttled, overrun)
    std::vector<std::string> errors{};  ///< what those say of themselves: add_error()
    bool aggregates_only = false;  ///< of a benchmark whose file has its means and no repetition
    /// What `context` calls hardware, in people's words (measure::HardwareFacts); null: not known.
    std::shared_ptr<const std::map<std::string, std::string>> hardware{};
    double sample_s = 0;  ///< what a sample of it took, on average; 0: not known
};

/// Each text once, in order of time, and no more than people read.
inline void add_error(std::vector<std::string>& errors, const std::string& text) {
    constexpr std::size_t most = 10;
    if (!text.empty() && errors.size() < most &&
        std::find(errors.begin(), errors.end(), text) == errors.end())
        errors.push_back(text);
}

/// Among the warnings of a session: what a program of Google Benchmark says of its machine.
inline constexpr const char* scaling_warning = "cpu scaling";

/// Where the values of a side were measured: a session of the store, or a foreign file.
struct ArmSession {
    std::string id;         ///< empty: a file
    std::string started;    ///< as the store or the file writes it
    std::string warnings;   ///< about the machine before it: "load, governor"; empty: none known
    bool in_turns = false;  ///< one of two that `assay versus` measured side by side
};

/// One side.
struct Arm {
    std::string says;  ///< what was typed, resolved: "session 1a2b3c4d of 2026-11-21 02:03"
    std::vector<Series> series;
    std::map<std::string, std::string> suspects;  ///< commit, compiler, driver …; for explaining
    std::vector<ArmSession> sessions{};           ///< oldest first
};

}  // namespace assay::compare
