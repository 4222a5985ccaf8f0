#include "suite/runner/sample/pipe_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "suite/base/process.hpp"

namespace assay::runner {
namespace {

constexpr std::size_t buffer_bytes = 64UL << 10U;
constexpr auto gathered_for = std::chrono::milliseconds(100);

store::TimeSeries curve_of(std::string_view name, std::string_view unit,
                           std::span<const double> t_s, std::span<const double> values,
                           const Labels& labels) {
    if (t_s.size() != values.size())
        throw std::logic_error(fmt::format("time series '{}': {} times but {} values", name,
                                           t_s.size(), values.size()));
    return {.name = std::string(name),
            .unit = std::string(unit),
            .labels = labels,
            .t_s = {t_s.begin(), t_s.end()},
            .values = {values.begin(), values.end()}};
}

}  // namespace

const MetricSpec* declared_metric(const Experiment& experiment, std::string_view name) {
    const MetricSpec* declared = experiment.metric(name);
    return declared != nullptr ? declared : experiment.metric(any_metric);
}

void PipeRecorder::put(const Message& message, bool now) {
    const std::string line = encode(message);
    const std::lock_guard lock(mutex_);
    buffer_ += line;
    const auto at = std::chrono::steady_clock::now();
    if (!now && buffer_.size() < buffer_bytes && at - written_ < gathered_for) return;
    written_ = at;
    if (!write_all(fd_, buffer_)) check_call(-1, "cannot reach the runner");
    buffer_.clear();
}

void PipeRecorder::metric(std::string_view name, double value, const Labels& labels) {
    const MetricSpec* declared = declared_metric(experiment_, name);
    if (declared == nullptr)
        throw std::logic_error(
            fmt::format("metric '{}' is not declared by {}", name, experiment_.id));
    const auto& only = declared->only;
    if (!only.empty() && std::find(only.begin(), only.end(), provenance_) == only.end())
        throw std::logic_error(fmt::format("metric '{}' of {} is not declared for {} samples", name,
                                           experiment_.id, to_string(provenance_)));
    for (const auto& [label, unused] : labels)
        if (std::find(declared->labels.begin(), declared->labels.end(), label) ==
            declared->labels.end())
            throw std::logic_error(fmt::format("label '{}' of metric '{}' is not declared by {}",
                                               label, name, experiment_.id));
    if (!std::isfinite(value))
        throw SampleError(SampleStatus::invalid, fmt::format("metric {} is not finite: {}",
                                                             metric_key(name, labels), value));
    put(store::MetricValue{std::string(name), labels, value}, false);
}

void PipeRecorder::event(std::string_view kind, double t_s, int rank,
                         const nlohmann::json& detail) {
    put(store::Event{t_s, std::string(kind), rank,
                     detail.is_null() ? nlohmann::json::object() : detail},
        true);
}

void PipeRecorder::time_series(std::string_view name, std::string_view unit,
                               std::span<const double> t_s, std::span<const double> values,
                               const Labels& labels) {
    put(curve_of(name, unit, t_s, values, labels), false);
}

void PipeRecorder::append_series(std::string_view name, std::string_view unit,
                                 std::span<const double> t_s, std::span<const double> values,
                                 const Labels& labels) {
    store::TimeSeries piece = curve_of(name, unit, t_s, values, labels);
    piece.grows = true;
    put(piece, true);
}

void PipeRecorder::table(std::string_view name, std::span<const TableColumn> columns,
                         const std::vector<std::vector<Value>>& rows) {
    for (const auto& row : rows)
        if (row.size() != columns.size())
            throw std::logic_error(fmt::format("table '{}': a row of {} cells under {} columns",
                                               name, row.size(), columns.size()));
    put(store::Table{std::string(name), {columns.begin(), columns.end()}, rows}, false);
}

void PipeRecorder::artifact(std::string_view name, std::string_view media_type,
                            std::string_view bytes) {
    put(store::Artifact{std::string(name), std::string(media_type), std::string(bytes)}, false);
}

void PipeRecorder::progress(double fraction, std::string_view what) {
    put(Progress{std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0, std::string(what)},
        true);
}

void PipeRecorder::end(SampleStatus status, const std::string& reason) {
    put(End{status, reason}, true);
}

}  // namespace assay::runner
