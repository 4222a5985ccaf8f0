#include "suite/report/row_name.hpp"

#include <string_view>

namespace assay::report {
namespace {

/// Before the name in the text of a series of the experiment benchmark/program: its axes stand in
/// the order of their names.
constexpr std::string_view benchmark_prefix = "benchmark/program ";
constexpr std::string_view name_axis = " name=";
constexpr std::string_view benchmark_metric = "real_time benchmark=";

}  // namespace

std::string RowName::text() const { return series + (metric.empty() ? "" : " · " + metric); }

RowName row_name(const std::string& series, const std::string& metric) {
    const std::size_t axis = series.rfind(name_axis);  // arguments come before it
    if (!series.starts_with(benchmark_prefix) || axis == series.npos ||
        !metric.starts_with(benchmark_metric))
        return {series, metric};
    const std::size_t name = axis + name_axis.size();
    return {"benchmark/" + series.substr(name, series.find(' ', name) - name) + ' ' +
                metric.substr(benchmark_metric.size()),
            ""};
}

RowName row_name(const store::SeriesKey& series, const store::MetricKey& metric) {
    std::string of_metric = metric.name;
    if (!metric.labels.empty()) of_metric += ' ' + to_string(metric.labels);
    return row_name(series_text(series), of_metric);
}

std::string series_text(const store::SeriesKey& series) {
    std::string text = series.experiment;
    for (const std::string& part : {series.variant, to_string(series.axes)})
        if (!part.empty()) text += ' ' + part;
    return text;
}

}  // namespace assay::report
