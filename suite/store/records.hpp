// Rows of the store as plain values.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/claim/claim.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::store {

/// The machine a session ran on. `fingerprint` is a hash of what affects performance.
struct Machine {
    std::string fingerprint;
    nlohmann::json description;
};

/// The suspect that marks a session in which a night ran single rows again. It is no night: neither
/// "latest" nor a trend means it.
inline constexpr std::string_view rerun_mark = "rerun";

/// The suspect that says of a session that its samples are of two builds: no level to judge by.
inline constexpr std::string_view mixed_mark = "mixed_builds";

/// The host of a session by its suspects: its own, or that of the file where it was imported; ""
/// where neither is told.
std::string host_of(const nlohmann::json& suspects);

struct Session {
    std::string id;           ///< UUID
    std::string machine;      ///< fingerprint; put_machine() comes first
    std::string command;      ///< argv as typed, shell-quoted
    std::string plan_hash;    ///< of experiments, cases, variants, rounds, seeds, scenario
    std::string build;        ///< build id of the program
    nlohmann::json suspects;  ///< commit, compiler, host, driver …: stored, never keys
    std::string started;      ///< ISO 8601, UTC
    std::string finished;     ///< empty while it runs; of a dead runner: its last sample's start
    std::string state;        ///< running, finished, interrupted
    long planned = 0;         ///< samples in the plan
    long arrival = 0;         ///< order in which sessions came into the file, were begun in it or
                              ///< ended; set by the store, which makes Store::places() of it
};

/// How many samples of an experiment a file holds, of all sessions.
struct ExperimentCounts {
    std::string experiment;
    std::map<std::string, long> samples;  ///< by status
    std::string newest;                   ///< the newest session that has any of them
};

/// How far a session is.
struct SessionProgress {
    long done = 0;        ///< samples that no longer run
    std::string running;  ///< id of the newest that does; empty: none
};

struct SeriesKey {
    std::string experiment, variant;
    Case axes;
    Profile profile = Profile::toy;
    Provenance provenance = Provenance::exact;
    std::string scenario;     ///< fault plan, canonical text; empty: nothing goes wrong
    std::string hardware;     ///< machine fingerprint; empty for exact and simulated
    std::string calibration;  ///< hash; empty: none
    std::string data;         ///< hash of input data; empty: none
};

struct MetricValue {
    std::string name;
    Labels labels;
    double value = 0;
};

struct Event {
    double t_s = 0;
    std::string kind;
    int rank = -1;
    nlohmann::json detail;
};

struct TimeSeries {
    std::string name, unit;
    Labels labels;
    std::vector<double> t_s, values;
    /// Recorded with append_series(): more points of it belong to the same curve.
    bool grows = false;
};

struct Table {
    std::string name;
    std::vector<TableColumn> columns;
    std::vector<std::vector<Value>> rows;
};

struct Artifact {
    std::string name, media_type, bytes;
};

/// One reading of the hardware monitor while a sample ran. Absent: the device does not tell.
struct HardwareReading {
    double t_s = 0;
    std::string device;  ///< "cpu", "gpu0" …
    std::optional<double> clock_hz, memory_clock_hz, temperature_c, power_w;
    std::string throttle_reasons;  ///< comma-separated; empty: none
};

/// One sample with everything that hangs on it.
struct Sample {
    std::string id, session, series;  ///< UUIDs
    SampleSpec spec;                  ///< complete: what `assay replay` runs again
    std::string status;               ///< to_string(SampleStatus)
    std::string reason;               ///< why not ok
    std::string started;
    double seconds = 0;
    Origin origin;  ///< of its series and session; known where it was read
    std::vector<MetricValue> metrics;
    std::vector<Event> events;
    std::vector<TimeSeries> series_data;
    std::vector<Table> tables;
    std::vector<Artifact> artifacts;
    std::vector<HardwareReading> hardware;
};

struct StoredCheck {
    std::string session;
    std::string at;  ///< ISO 8601
    ClaimCheck check;
    int rules = claim_rules;  ///< by which it was judged; 0: of a database of before
};

struct Annotation {
    std::string subject;  ///< id of a session or a sample
    std::string at;       ///< ISO 8601
    std::string text;
};

/// Parameters of a cost model and where they came from.
struct Calibration {
    std::string hash;  ///< SHA-256 of the parameters; series name it
    std::string name;
    nlohmann::json parameters;
    nlohmann::json fitted_from;  ///< ids of claims and sessions that numbers were fitted from
    std::string created;         ///< ISO 8601; empty: now
};

/// What a metric of an experiment is measured in.
struct MetricUnit {
    std::string experiment, name;
    std::string unit;  ///< "s", "byte" …; empty: a plain number
    Direction better = Direction::none;
};

/// Part of a database. What is empty does not restrict; a session counts when it has a sample left.
struct Selection {
    std::vector<std::string> sessions;     ///< whole ids
    std::vector<std::string> experiments;  ///< ids, or patterns with * and ?
    std::string since;                     ///< ISO 8601: sessions that started then or later
    bool all() const { return sessions.empty() && experiments.empty() && since.empty(); }
};

/// A session that others are compared with.
struct Baseline {
    std::string name, session, created;
};

/// The event of a sample that holds what the program which it started says of the machine and of
/// itself, in the words of that program's file: processors, build type, commit …
inline constexpr std::string_view context_event = "context";

// The numbers of one session and what tells its series apart, without specs, events and blobs: what
// comparing sessions needs. Read through indexes only: the cost grows with the session, not with
// the database.

/// One sample as far as comparing goes.
struct MeasuredSample {
    std::string id;
    std::size_t series = 0;  ///< index into SessionMetrics::series
    std::uint64_t seed = 0;
    int round = 0;
    std::string status;
    std::string started;               ///< ISO 8601, UTC
    std::string reason;                ///< empty where it is ok
    std::vector<MetricValue> metrics;  ///< in no promised order; whatever the status
    /// What the program that it started says of the machine and of itself (context_event); null: it
    /// started none, or that says nothing.
    nlohmann::json context{};
    double seconds = 0;  ///< what it took
};

struct SessionMetrics {
    std::vector<std::string> ids;         ///< of the series
    std::vector<SeriesKey> series;        ///< in the order in which they first started
    std::vector<MeasuredSample> samples;  ///< in the order they started
};

}  // namespace assay::store
