// What changed in a results database since somebody looked: Store::changes_since(). Reading goes
// through indexes: the cost grows with what is new, not with the database, and is a few
// microseconds where nothing is.
//
// A reader keeps a Cursor and asks again and again, with no transaction in between. Every change of
// a session or a sample has a number in its file (schema/version_5.sql); the cursor knows the
// newest that it has seen, and how many rows of each sample that was running then.
//
// Numbers mean nothing in another file, nor in a copy of this one that was written to by itself (a
// backup that took its place). A cursor therefore also knows which writer made the change that it
// stands at. Where the file does not agree, or no longer knows what was removed since, the answer
// is everything, with Changes::everything set.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "suite/store/records.hpp"

namespace assay::store {

/// How many rows of each kind a reader has seen of a sample; rows are only ever added at the end.
struct RowsSeen {
    std::int64_t metrics = 0, events = 0, series = 0, tables = 0, artifacts = 0, hardware = 0;
    bool operator==(const RowsSeen&) const = default;
};

/// Where a reader stands. As it is made, it has seen nothing.
struct Cursor {
    std::int64_t change = 0;
    std::int64_t writer = 0;
    std::map<std::string, RowsSeen> running;  ///< samples that may get more rows, by id
    bool operator==(const Cursor&) const = default;
};

/// A curve as it was recorded at once, or a chunk of one that grew.
struct SeriesChunk {
    /// Which curve of its sample: chunks of one curve have the same number, and curves are in the
    /// order of these.
    std::int64_t curve = 0;
    TimeSeries points;  ///< follow those of earlier chunks
};

struct ArtifactEntry {
    std::string name, media_type;
    std::int64_t bytes = 0;
};

struct SampleChange {
    /// As it is now; of metrics, events, tables and hardware readings the new ones only. Curves and
    /// artifacts are below instead, of artifacts not the contents: Store::sample() has those.
    Sample sample;
    std::vector<SeriesChunk> series;
    std::vector<ArtifactEntry> artifacts;
};

/// Apply it in this order: removals first, since what was removed may have come back.
struct Changes {
    bool everything = false;  ///< forget what is known: these are all sessions and samples
    std::vector<std::string> removed_sessions, removed_samples;  ///< ids, perhaps never heard of
    std::vector<Session> sessions;      ///< new, or not as they were; the last changed come last
    std::vector<SampleChange> samples;  ///< new, not as they were, or with new rows; likewise
    Cursor next;                        ///< ask with this one the next time
    bool empty() const {
        return !everything && removed_sessions.empty() && removed_samples.empty() &&
               sessions.empty() && samples.empty();
    }
};

}  // namespace assay::store
