// Metrics of series through time: see history.hpp.
#include "suite/store/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <unordered_map>

#include "suite/measure/statistics/quantile.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {

const char* const session_after_sql =
    "SELECT session FROM sample WHERE series = ? AND status = 'ok' AND session > ? "
    "ORDER BY session LIMIT 1";

// CROSS JOIN keeps SQLite from starting at the metrics; the index sample_series gives the order.
const char* const history_sql =
    "SELECT metric.name, metric.labels, metric.value, sample.seed, sample.round FROM sample "
    "CROSS JOIN metric ON metric.sample = sample.id "
    "WHERE sample.series = ? AND sample.status = 'ok' AND sample.session = ? "
    "ORDER BY sample.seed, sample.round";

const char* const series_of_sql =
    "SELECT experiment, variant, axes, profile, provenance, scenario, hardware, calibration, data "
    "FROM series WHERE experiment = ? AND EXISTS (SELECT 1 FROM sample "
    "WHERE sample.series = series.id AND sample.status = 'ok') "
    "ORDER BY variant, axes, profile, provenance, scenario, hardware, calibration, data";

const char* const metrics_of_sql =
    "SELECT DISTINCT metric.name, metric.labels FROM sample "
    "JOIN metric ON metric.sample = sample.id "
    "WHERE sample.series = ? AND sample.status = 'ok'";

namespace {

/// What the points of a session have in common.
class SessionPoints {
  public:
    explicit SessionPoints(SQLite::Database& sql)
        : places_(recorded_places(sql)),
          find_(sql, "SELECT started, suspects FROM session WHERE id = ?") {}

    HistoryPoint of(const std::string& id) {
        find_.reset();
        find_.bind(1, id);
        if (!find_.executeStep()) throw std::invalid_argument("a sample without its session");
        auto suspects = nlohmann::json::parse(find_.getColumn(1).getString());
        HistoryPoint point;
        if (const auto commit = suspects.find("commit");
            commit != suspects.end() && commit->is_string())
            point.commit = commit->get<std::string>();
        point.session = id;
        point.started = find_.getColumn(0).getString();
        point.place = places_.at(id);
        point.suspects = std::make_shared<const nlohmann::json>(std::move(suspects));
        return point;
    }

  private:
    std::map<std::string, long> places_;
    SQLite::Statement find_;
};

/// One series while it is read, session after session.
class SeriesReader {
  public:
    SeriesReader(SeriesKey key, const HistoryFilter& filter)
        : key_(std::move(key)), id_(series_id(series_columns(key_))), filter_(filter) {}

    const std::string& id() const { return id_; }

    void add(const char* name, const char* labels, double value, const Draw& draw,
             const HistoryPoint& session) {
        const Slot& slot = slot_of(name, labels);
        if (slot.history == unwanted || !std::isfinite(value)) return;
        std::vector<HistoryPoint>& points = found_[slot.history].points;
        if (points.empty() || points.back().session != session.session) points.push_back(session);
        points.back().values.push_back(value);
        points.back().draws.push_back(draw);
    }

    /// In the order of the metrics.
    std::vector<SeriesHistory> finish() {
        std::erase_if(found_, [](const SeriesHistory& history) { return history.points.empty(); });
        std::sort(found_.begin(), found_.end(), [](const SeriesHistory& a, const SeriesHistory& b) {
            return a.metric < b.metric;
        });
        for (SeriesHistory& history : found_) {
            for (HistoryPoint& point : history.points)
                point.median = statistics::median(point.values);
            std::sort(
                history.points.begin(), history.points.end(),
                [](const HistoryPoint& a, const HistoryPoint& b) { return a.place < b.place; });
        }
        return std::move(found_);
    }

  private:
    static constexpr std::size_t unwanted = -1;
    /// A metric as its rows spell it, and its place in found_.
    struct Slot {
        std::string name, labels;
        std::size_t history;
    };

    /// Samples record the same metrics in the same order: mostly it is the next one.
    const Slot& slot_of(const char* name, const char* labels) {
        const auto is_it = [&](const Slot& slot) {
            return slot.name == name && slot.labels == labels;
        };
        if (next_ >= slots_.size()) next_ = 0;
        if (next_ < slots_.size() && is_it(slots_[next_])) return slots_[next_++];
        std::string key = fmt::format("{}\n{}", name, labels);
        const auto [at, is_new] = index_.try_emplace(std::move(key), slots_.size());
        if (is_new) {
            MetricKey metric{name, case_from_text(labels)};
            const bool wanted = !filter_.metric || filter_.metric(key_, metric);
            slots_.push_back({name, labels, wanted ? found_.size() : unwanted});
            if (wanted) found_.push_back({key_, std::move(metric), {}});
        }
        next_ = at->second + 1;
        return slots_[at->second];
    }

    SeriesKey key_;
    std::string id_;
    const HistoryFilter& filter_;
    std::vector<Slot> slots_;
    std::unordered_map<std::string, std::size_t> index_;
    std::size_t next_ = 0;
    std::vector<SeriesHistory> found_;
};

Draw draw_at(const SQLite::Statement& row) {
    return {std::bit_cast<std::uint64_t>(std::int64_t{row.getColumn(3).getInt64()}),
            row.getColumn(4).getInt()};
}

/// Session after session, because the samples of one lie close together in the file.
std::vector<SeriesHistory> read_histories(SQLite::Database& sql, const std::vector<SeriesKey>& keys,
                                          const HistoryFilter& filter) {
    std::vector<SeriesReader> readers;
    for (const SeriesKey& key : keys) readers.emplace_back(key, filter);
    std::map<std::string, std::vector<SeriesReader*>> sessions;
    SQLite::Statement after(sql, session_after_sql);
    for (SeriesReader& reader : readers)
        for (std::string session;; sessions[session].push_back(&reader)) {
            after.reset();
            after.bind(1, reader.id());
            after.bind(2, session);
            if (!after.executeStep()) break;
            session = after.getColumn(0).getString();
        }
    SessionPoints points(sql);
    SQLite::Statement rows(sql, history_sql);
    for (const auto& [session, with_it] : sessions) {
        const HistoryPoint point = points.of(session);
        if (point.started < filter.since) continue;
        for (SeriesReader* reader : with_it) {
            rows.reset();
            rows.bind(1, reader->id());
            rows.bind(2, session);
            while (rows.executeStep())
                reader->add(rows.getColumn(0).getText(), rows.getColumn(1).getText(),
                            real_or_nan(rows.getColumn(2)), draw_at(rows), point);
        }
    }
    std::vector<SeriesHistory> all;
    for (SeriesReader& reader : readers)
        for (SeriesHistory& history : reader.finish()) all.push_back(std::move(history));
    return all;
}

std::vector<SeriesKey> read_series_of(SQLite::Database& sql, std::string_view experiment) {
    SQLite::Statement rows(sql, series_of_sql);
    bind_text(rows, 1, experiment);
    std::vector<SeriesKey> all;
    while (rows.executeStep()) all.push_back(series_at(rows));
    return all;
}

}  // namespace

std::vector<SeriesHistory> Store::histories(std::string_view experiment,
                                            const HistoryFilter& filter) const {
    return impl_->database.read("read the histories", [&](SQLite::Database& sql) {
        std::vector<SeriesKey> keys = read_series_of(sql, experiment);
        if (filter.series)
            std::erase_if(keys, [&](const SeriesKey& key) { return !filter.series(key); });
        return read_histories(sql, keys, filter);
    });
}

std::vector<HistoryPoint> Store::history(const SeriesKey& key, const MetricKey& metric,
                                         std::string_view since) const {
    return impl_->database.read("read the history", [&](SQLite::Database& sql) {
        const HistoryFilter filter{
            .series = {},
            .metric = [&](const SeriesKey&, const MetricKey& other) { return other == metric; },
            .since = std::string(since)};
        std::vector<SeriesHistory> found = read_histories(sql, {key}, filter);
        return found.empty() ? std::vector<HistoryPoint>() : std::move(found.front().points);
    });
}

std::vector<std::string> Store::experiments() const {
    return impl_->database.read("list the experiments", [&](SQLite::Database& sql) {
        SQLite::Statement rows(sql, "SELECT DISTINCT experiment FROM series ORDER BY experiment");
        std::vector<std::string> ids;
        while (rows.executeStep()) ids.push_back(rows.getColumn(0).getString());
        return ids;
    });
}

std::vector<SeriesKey> Store::series_of(std::string_view experiment) const {
    return impl_->database.read(
        "list the series", [&](SQLite::Database& sql) { return read_series_of(sql, experiment); });
}

std::vector<MetricKey> Store::metrics_of(const SeriesKey& key) const {
    return impl_->database.read("list the metrics", [&](SQLite::Database& sql) {
        SQLite::Statement rows(sql, metrics_of_sql);
        rows.bind(1, series_id(series_columns(key)));
        std::vector<MetricKey> all;
        while (rows.executeStep())
            all.push_back(
                {rows.getColumn(0).getString(), case_from_text(rows.getColumn(1).getString())});
        std::sort(all.begin(), all.end());
        return all;
    });
}

}  // namespace assay::store
