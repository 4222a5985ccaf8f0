// A reader that knows of a database what Store::changes_since() told it, and nothing else; and the
// same read as a whole.
#pragma once

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "suite/base/encoding.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/store.hpp"

namespace assay::store::testing {

inline std::string text_of(const Session& session) {
    return fmt::format("{} {} {} {} {} {} {} {}", session.id, session.machine, session.command,
                       session.suspects.dump(), session.started, session.finished, session.state,
                       session.arrival);
}

/// Every bit of it; contents of artifacts as their lengths.
inline std::string text_of(const Sample& sample) {
    const auto bits = [](const std::vector<double>& values) { return to_base64(blob_of(values)); };
    std::string text =
        fmt::format("{} {} {} {} {} {} {}\n", sample.id, sample.session, sample.series,
                    to_json(sample.spec).dump(), sample.status, sample.reason, sample.started);
    text += bits({sample.seconds}) + sample.origin.hardware + '\n';
    for (const MetricValue& metric : sample.metrics)
        text += fmt::format("metric {} {}\n", metric_key(metric.name, metric.labels),
                            bits({metric.value}));
    for (const Event& event : sample.events)
        text += fmt::format("event {} {} {} {}\n", bits({event.t_s}), event.kind, event.rank,
                            event.detail.dump());
    for (const TimeSeries& curve : sample.series_data)
        text += fmt::format("curve {} {} {} {} {}\n", metric_key(curve.name, curve.labels),
                            curve.unit, curve.grows, bits(curve.t_s), bits(curve.values));
    for (const Table& table : sample.tables) {
        text += "table " + table.name + '\n';
        for (const TableColumn& column : table.columns) text += column.name + column.unit + '|';
        for (const auto& row : table.rows)
            for (const Value& cell : row) text += to_json(cell).dump() + ',';
    }
    for (const Artifact& artifact : sample.artifacts)
        text += fmt::format("artifact {} {} {}\n", artifact.name, artifact.media_type,
                            artifact.bytes.size());
    for (const HardwareReading& reading : sample.hardware)
        text +=
            fmt::format("hardware {} {} {} {}\n", bits({reading.t_s}), reading.device,
                        bits({reading.clock_hz.value_or(-1), reading.memory_clock_hz.value_or(-1),
                              reading.temperature_c.value_or(-1), reading.power_w.value_or(-1)}),
                        reading.throttle_reasons);
    return text;
}

/// By id, whatever is in the database.
using Contents = std::map<std::string, std::string>;

inline Contents contents_of(const Store& store) {
    Contents all;
    for (const Session& session : store.sessions()) {
        all.emplace(session.id, text_of(session));
        for (const Sample& sample : store.samples(session.id))
            all.emplace(sample.id, text_of(store.sample(sample.id)));
    }
    return all;
}

class Follower {
  public:
    /// Asks for what is new and applies it; returns it.
    Changes look(const Store& store) {
        Changes changes = store.changes_since(cursor);
        cursor = changes.next;
        apply(changes);
        return changes;
    }

    Contents contents() const {
        Contents all;
        for (const auto& [id, session] : sessions_) all.emplace(id, text_of(session));
        for (const auto& [id, known] : samples_) {
            Sample sample = known.sample;
            for (const auto& [number, curve] : known.curves) sample.series_data.push_back(curve);
            for (const ArtifactEntry& entry : known.artifacts)
                sample.artifacts.push_back(
                    {entry.name, entry.media_type,
                     std::string(static_cast<std::size_t>(entry.bytes), '?')});
            all.emplace(id, text_of(sample));
        }
        return all;
    }

    Cursor cursor;

  private:
    struct Known {
        Sample sample;
        std::map<std::int64_t, TimeSeries> curves;
        std::vector<ArtifactEntry> artifacts;
    };

    template <class Rows>
    static void put_before(const Rows& earlier, Rows& rows) {
        rows.insert(rows.begin(), earlier.begin(), earlier.end());
    }

    void apply(const Changes& changes) {
        if (changes.everything) {
            sessions_.clear();
            samples_.clear();
        }
        for (const std::string& id : changes.removed_sessions) sessions_.erase(id);
        for (const std::string& id : changes.removed_samples) samples_.erase(id);
        for (const Session& session : changes.sessions) sessions_[session.id] = session;
        for (const SampleChange& change : changes.samples) {
            Known& known = samples_[change.sample.id];
            Sample now = change.sample;
            put_before(known.sample.metrics, now.metrics);
            put_before(known.sample.events, now.events);
            put_before(known.sample.tables, now.tables);
            put_before(known.sample.hardware, now.hardware);
            known.sample = std::move(now);
            for (const SeriesChunk& chunk : change.series) {
                const auto [at, is_new] = known.curves.try_emplace(chunk.curve, chunk.points);
                if (is_new) continue;
                TimeSeries& curve = at->second;
                curve.t_s.insert(curve.t_s.end(), chunk.points.t_s.begin(), chunk.points.t_s.end());
                curve.values.insert(curve.values.end(), chunk.points.values.begin(),
                                    chunk.points.values.end());
            }
            known.artifacts.insert(known.artifacts.end(), change.artifacts.begin(),
                                   change.artifacts.end());
        }
    }

    std::map<std::string, Session> sessions_;
    std::map<std::string, Known> samples_;
};

}  // namespace assay::store::testing
