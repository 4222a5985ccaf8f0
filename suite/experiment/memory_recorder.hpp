// A recorder that keeps everything in memory: for tests, and for running one sample without a
// store.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/experiment/recorder.hpp"

namespace assay {

class MemoryRecorder : public Recorder {
  public:
    struct Metric {
        std::string name;
        double value = 0;
        Labels labels;
    };
    struct Event {
        std::string kind;
        double t_s = 0;
        int rank = -1;
        nlohmann::json detail;
    };
    struct TimeSeries {
        std::string name, unit;
        std::vector<double> t_s, values;
        Labels labels;
    };
    struct Table {
        std::string name;
        std::vector<TableColumn> columns;
        std::vector<std::vector<Value>> rows;
    };
    struct Artifact {
        std::string name, media_type, bytes;
    };

    std::vector<Metric> metrics;
    std::vector<Event> events;
    std::vector<TimeSeries> time_series_kept;
    std::vector<Table> tables;
    std::vector<Artifact> artifacts;
    double last_progress = 0;

    void metric(std::string_view name, double value, const Labels& labels = {}) override;
    void event(std::string_view kind, double t_s, int rank, const nlohmann::json& detail) override;
    /// Throws std::invalid_argument when the spans differ in length.
    void time_series(std::string_view name, std::string_view unit, std::span<const double> t_s,
                     std::span<const double> values, const Labels& labels = {}) override;
    /// Throws std::invalid_argument when a row has not one value per column.
    void table(std::string_view name, std::span<const TableColumn> columns,
               const std::vector<std::vector<Value>>& rows) override;
    void artifact(std::string_view name, std::string_view media_type,
                  std::string_view bytes) override;
    void progress(double fraction, std::string_view what) override;

    /// The value recorded under these labels. Throws std::out_of_range, naming the metric, unless
    /// there is exactly one.
    double value(std::string_view name, const Labels& labels = {}) const;
};

}  // namespace assay
