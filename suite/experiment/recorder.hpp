// Where a running sample puts what it finds. The runner implements it (results travel over a pipe
// into the store as they come); tests implement it in memory.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "suite/experiment/value.hpp"

namespace assay {

enum class SampleStatus { ok, failed, invalid, interrupted, unsupported, running };
std::string_view to_string(SampleStatus);

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

    /// Something that happened at `t_s` seconds after the sample's start: kind is "fault", "death",
    /// "detection", "regroup", "transfer", "commit", "checkpoint", … rank -1: none. `detail` is an
    /// object with whatever explains it.
    virtual void event(std::string_view kind, double t_s, int rank,
                       const nlohmann::json& detail) = 0;

    /// A curve: equally long spans.
    virtual void time_series(std::string_view name, std::string_view unit,
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

}  // namespace assay
