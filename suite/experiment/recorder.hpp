// Where a running sample puts what it finds. The runner implements it (results travel over a pipe
// into the store as they come); tests implement it in memory.
#pragma once

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/experiment/value.hpp"

namespace assay {

enum class SampleStatus { ok, failed, invalid, interrupted, unsupported, running };
ASSAY_NAMES(SampleStatus, ok, failed, invalid, interrupted, unsupported, running)

/// Ends a sample with a status other than ok; `what()` is a sentence for the user.
class SampleError : public std::runtime_error {
  public:
    SampleError(SampleStatus status, const std::string& reason)
        : std::runtime_error(reason), status_(status) {}
    SampleStatus status() const { return status_; }

  private:
    SampleStatus status_;
};

struct TableColumn {
    std::string name;
    std::string unit;
};

class Recorder {
  public:
    virtual ~Recorder() = default;

    virtual void metric(std::string_view name, double value, const Labels& labels = {}) = 0;

    /// Something that happened at `t_s` seconds after the sample's start. `kind`: one of
    /// suite_event_kinds() ("fault", "death", …) or of the system's own (system.hpp); timelines
    /// draw others as plain marks. rank -1: none. `detail` is an object with whatever explains it.
    virtual void event(std::string_view kind, double t_s, int rank,
                       const nlohmann::json& detail) = 0;

    /// A whole curve: equally long spans.
    virtual void time_series(std::string_view name, std::string_view unit,
                             std::span<const double> t_s, std::span<const double> values,
                             const Labels& labels = {}) = 0;

    /// More points of a curve that grows while the sample runs, so that it can be followed: of the
    /// one that earlier calls with this name and these labels began. Its unit stays the same. Read
    /// later it is one curve, in the order of the calls. What time_series() records is never part
    /// of it, whatever its name.
    virtual void append_series(std::string_view name, std::string_view unit,
                               std::span<const double> t_s, std::span<const double> values,
                               const Labels& labels = {}) = 0;

    virtual void table(std::string_view name, std::span<const TableColumn> columns,
                       const std::vector<std::vector<Value>>& rows) = 0;

    /// A file kept with the sample, content-addressed.
    virtual void artifact(std::string_view name, std::string_view media_type,
                          std::string_view bytes) = 0;

    /// For live display only; not stored.
    virtual void progress(double fraction, std::string_view what) = 0;
};

// A recorder that keeps everything in memory: for tests, and for running one sample without a
// store.

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
        bool grows = false;  ///< made by append_series()
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
    /// Joins the pieces. Throws std::invalid_argument also when the unit is another one.
    void append_series(std::string_view name, std::string_view unit, std::span<const double> t_s,
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
