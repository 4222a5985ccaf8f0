// The Recorder inside a sample's process: checks what is recorded against the experiment's
// declaration and writes it to the runner.
#pragma once

#include <chrono>
#include <mutex>
#include <span>
#include <string>

#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/runner/sample/sample_protocol.hpp"

namespace assay::runner {

/// A declared metric of this name stands for all that are not declared: what a foreign program
/// counts.
inline constexpr std::string_view any_metric = "*";
/// null: the experiment has none of that name.
const MetricSpec* declared_metric(const Experiment&, std::string_view name);

/// Thread-safe. Events, progress and curves that grow are written at once: somebody may follow
/// them. Metrics and the like, which come in thousands, are gathered and go with the next of those,
/// with the first that comes a tenth of a second after the last writing, when a buffer is full, or
/// at the end.
///
/// A metric that is not finite ends the sample as invalid (SampleError). A metric or a
/// label that is not declared, for samples of this provenance, is a mistake in the experiment:
/// std::logic_error.
class PipeRecorder : public Recorder {
  public:
    PipeRecorder(const Experiment& experiment, Provenance provenance, int fd)
        : experiment_(experiment), provenance_(provenance), fd_(fd) {}

    void metric(std::string_view name, double value, const Labels& labels) override;
    void event(std::string_view kind, double t_s, int rank, const nlohmann::json& detail) override;
    void time_series(std::string_view name, std::string_view unit, std::span<const double> t_s,
                     std::span<const double> values, const Labels& labels) override;
    void append_series(std::string_view name, std::string_view unit, std::span<const double> t_s,
                       std::span<const double> values, const Labels& labels) override;
    void table(std::string_view name, std::span<const TableColumn> columns,
               const std::vector<std::vector<Value>>& rows) override;
    void artifact(std::string_view name, std::string_view media_type,
                  std::string_view bytes) override;
    void progress(double fraction, std::string_view what) override;

    /// The last line; nothing may follow.
    void end(SampleStatus status, const std::string& reason);

  private:
    void put(const Message& message, bool now);

    const Experiment& experiment_;
    Provenance provenance_;
    int fd_;
    std::mutex mutex_;
    std::string buffer_;
    std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
};

}  // namespace assay::runner
