#include "suite/store/storable.hpp"

#include <fmt/format.h>

#include "suite/store/row_codec.hpp"

namespace assay::store {
namespace {

/// Removes the rows for which `demand` throws, and notes why.
template <class Rows, class Demand>
void keep_storable(Rows& rows, std::set<std::string>& why, Demand demand) {
    std::erase_if(rows, [&](const auto& row) {
        try {
            demand(row);
            return false;
        } catch (const StoreError& error) {
            why.emplace(error.what());
            return true;
        }
    });
}

}  // namespace

std::string RecordedMetrics::labels_of(const MetricValue& metric) {
    std::string labels = canonical(metric.labels);
    if (!seen_.emplace(metric.name, labels).second)
        throw StoreError(
            fmt::format("recorded the metric {} twice; a label must tell the values apart",
                        metric_key(metric.name, metric.labels)));
    return labels;
}

void demand_storable(const TimeSeries& curve) {
    canonical(curve.labels);
    if (curve.t_s.size() != curve.values.size())
        throw StoreError(fmt::format("the curve {} has {} times but {} values", curve.name,
                                     curve.t_s.size(), curve.values.size()));
}

void demand_storable(const Table& table) {
    for (std::size_t line = 0; line < table.rows.size(); ++line)
        if (table.rows[line].size() != table.columns.size())
            throw StoreError(
                fmt::format("row {} of the table {} has {} cells, the table {} columns", line,
                            table.name, table.rows[line].size(), table.columns.size()));
}

std::set<std::string> take_out_unstorable(Sample& sample) {
    std::set<std::string> why;
    RecordedMetrics recorded;
    keep_storable(sample.metrics, why,
                  [&](const MetricValue& metric) { recorded.labels_of(metric); });
    const auto demand = [](const auto& row) { demand_storable(row); };
    keep_storable(sample.series_data, why, demand);
    keep_storable(sample.tables, why, demand);
    return why;
}

}  // namespace assay::store
