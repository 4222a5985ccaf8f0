#include "suite/cli/upkeep/watch_output.hpp"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/encoding.hpp"
#include "suite/base/quantity_text.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/experiment/series.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::cli {
namespace {

// ---- for programs -------------------------------------------------------------------------------

nlohmann::json numbers(const std::vector<double>& values) {
    nlohmann::json array = nlohmann::json::array();
    for (const double value : values) array.push_back(finite_or_null(value));
    return array;
}

nlohmann::json rows_of(const store::Table& table) {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& row : table.rows) {
        nlohmann::json cells = nlohmann::json::array();
        for (const Value& cell : row) cells.push_back(to_json(cell));
        rows.push_back(std::move(cells));
    }
    return rows;
}

nlohmann::json columns_of(const store::Table& table) {
    nlohmann::json columns = nlohmann::json::array();
    for (const TableColumn& column : table.columns)
        columns.push_back({{"name", column.name}, {"unit", column.unit}});
    return columns;
}

class JsonOutput : public WatchOutput {
  public:
    void begun(const store::Session& session) override {
        print_json_line({{"kind", "session"},
                         {"session", session.id},
                         {"state", session.state},
                         {"command", session.command},
                         {"planned", session.planned},
                         {"started", session.started}});
    }
    void ended(const store::Session& session) override { begun(session); }
    void sample(const store::SampleChange& change, bool as_before) override {
        const store::Sample& sample = change.sample;
        if (!as_before)
            print_json_line({{"kind", "sample"},
                             {"sample", sample.id},
                             {"session", sample.session},
                             {"experiment", sample.spec.experiment},
                             {"variant", sample.spec.variant},
                             {"case", to_json(sample.spec.axes)},
                             {"profile", to_string(sample.spec.profile)},
                             {"provenance", to_string(sample.spec.provenance)},
                             {"scenario", sample.spec.scenario},
                             {"seed", sample.spec.seed},
                             {"round", sample.spec.round},
                             {"status", sample.status},
                             {"reason", sample.reason},
                             {"seconds", sample.seconds}});
        const auto print = [&](const char* kind, nlohmann::json row) {
            row["kind"] = kind;
            row["sample"] = sample.id;
            print_json_line(row);
        };
        for (const store::Event& event : sample.events)
            print("event", {{"t_s", event.t_s},
                            {"event", event.kind},
                            {"rank", event.rank},
                            {"detail", event.detail}});
        for (const store::SeriesChunk& chunk : change.series)
            print("series", {{"curve", chunk.curve},
                             {"name", chunk.points.name},
                             {"unit", chunk.points.unit},
                             {"labels", to_json(chunk.points.labels)},
                             {"t_s", numbers(chunk.points.t_s)},
                             {"values", numbers(chunk.points.values)}});
        for (const store::MetricValue& metric : sample.metrics)
            print("metric", {{"name", metric.name},
                             {"labels", to_json(metric.labels)},
                             {"value", finite_or_null(metric.value)}});
        for (const store::Table& table : sample.tables)
            print("table",
                  {{"name", table.name}, {"columns", columns_of(table)}, {"rows", rows_of(table)}});
        for (const store::ArtifactEntry& artifact : change.artifacts)
            print("artifact", {{"name", artifact.name},
                               {"media_type", artifact.media_type},
                               {"bytes", artifact.bytes}});
        for (const store::HardwareReading& reading : sample.hardware)
            print("hardware", {{"t_s", reading.t_s},
                               {"device", reading.device},
                               {"clock_hz", finite_or_null(reading.clock_hz)},
                               {"memory_clock_hz", finite_or_null(reading.memory_clock_hz)},
                               {"temperature_c", finite_or_null(reading.temperature_c)},
                               {"power_w", finite_or_null(reading.power_w)},
                               {"throttle_reasons", reading.throttle_reasons}});
    }
    void removed(const std::string& sample) override {
        print_json_line({{"kind", "removed"}, {"sample", sample}});
    }
    void again() override { print_json_line({{"kind", "again"}}); }
};

// ---- for people ---------------------------------------------------------------------------------

class TextOutput : public WatchOutput {
  public:
    explicit TextOutput(const Registry& registry) : registry_(registry) {}

    void begun(const store::Session& session) override {
        print(session.id, fmt::format("session, {} planned: {}", session.planned, session.command));
    }
    void ended(const store::Session& session) override {
        print(session.id, "session " + session.state);
    }
    void sample(const store::SampleChange& change, bool as_before) override {
        const store::Sample& sample = change.sample;
        const bool ended = sample.status != "running";
        if (told_.insert(sample.id).second)
            print(sample.id, fmt::format("{} seed {}", series_of(sample.spec).series_text(),
                                         sample.spec.seed));
        rows(change);
        if (as_before || !ended) return;
        print(sample.id, fmt::format("{} in {}{}{}", sample.status, duration_text(sample.seconds),
                                     sample.reason.empty() ? "" : ": ", sample.reason));
        told_.erase(sample.id);
    }
    void removed(const std::string& sample) override {
        print(sample, "gave way to another attempt");
    }
    void again() override {
        std::cerr << "the database was cleaned up or replaced: from the beginning again\n";
        told_.clear();
    }

  private:
    /// Each line begins with the first characters of the id that it is about.
    static void print(const std::string& id, const std::string& says) {
        print_line(std::cout, fmt::format("{:.8}  {}", id, says));
    }
    void rows(const store::SampleChange& change) {
        const store::Sample& sample = change.sample;
        const auto line = [&](const std::string& says) { print(sample.id, "  " + says); };
        for (const store::Event& event : sample.events)
            line(fmt::format("{:.2f} s {}{}{}", event.t_s, event.kind,
                             event.rank < 0 ? "" : fmt::format(" rank {}", event.rank),
                             event.detail.empty() ? "" : " " + event.detail.dump()));
        for (const store::SeriesChunk& chunk : change.series) {
            const store::TimeSeries& points = chunk.points;
            if (points.values.empty()) continue;
            line(fmt::format("{}: {} points to {:.2f} s, the last {:g} {}",
                             metric_key(points.name, points.labels), points.values.size(),
                             points.t_s.back(), points.values.back(), points.unit));
        }
        const Experiment* const experiment = registry_.experiment(sample.spec.experiment);
        for (const store::MetricValue& metric : sample.metrics) {
            const MetricSpec* const spec = experiment ? experiment->metric(metric.name) : nullptr;
            line(fmt::format("{} = {:g}{}{}", metric_key(metric.name, metric.labels), metric.value,
                             spec ? " " : "", spec ? spec->unit : ""));
        }
        for (const store::Table& table : sample.tables)
            line(fmt::format("table {}: {} rows", table.name, table.rows.size()));
        for (const store::ArtifactEntry& artifact : change.artifacts)
            line(fmt::format("artifact {}: {}", artifact.name,
                             bytes_text(static_cast<double>(artifact.bytes))));
    }

    const Registry& registry_;
    std::set<std::string> told_;  ///< samples whose names stand above
};

}  // namespace

std::unique_ptr<WatchOutput> watch_output(const Registry& registry, bool json) {
    if (json) return std::make_unique<JsonOutput>();
    return std::make_unique<TextOutput>(registry);
}

}  // namespace assay::cli
