// Rows are cases and variants, columns are metrics.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "suite/experiment/experiment.hpp"
#include "suite/report/sample_groups.hpp"
#include "suite/report/text/result_tables.hpp"

namespace assay::report {
namespace {

/// More label values than this become one column with their span; all of them are in the CSV.
constexpr std::size_t most_label_columns = 12;

/// With more columns than this and at most `few_rows` rows the table is turned on its side.
constexpr std::size_t most_columns = 16;
constexpr std::size_t few_rows = 3;

struct Row {
    std::vector<const store::Sample*> samples;
    OriginLabel origin;
};

/// Declared order of values along an axis, so that "gpt-s" comes before "gpt-l" where the
/// experiment says so.
struct RowKey {
    std::vector<OrderedValue> axes;
    std::size_t variant;
    Profile profile;
    Provenance provenance;
    std::string scenario;
    std::string origin;
    auto operator<=>(const RowKey&) const = default;
};

std::string summary(std::vector<double> values) {
    if (values.empty()) return "–";
    std::sort(values.begin(), values.end());
    return number(median_of_sorted(values), values.front(), values.back());
}

std::string titled(const MetricSpec& metric, const std::string& label) {
    const std::string name = label.empty() ? metric.name : label;
    const bool bare = !label.empty() || metric.unit.empty() || metric.unit == "probability" ||
                      metric.unit == "count" || metric.unit == "ratio" || metric.unit == "bool";
    return bare ? name : fmt::format("{} [{}]", name, metric.unit);
}

/// A fault plan as a cell, one fault per line.
std::string faults_cell(std::string scenario) {
    if (scenario.empty()) return "none";
    for (std::size_t at = 0; (at = scenario.find("; ", at)) != std::string::npos;)
        scenario.replace(at, 2, ";\n");
    return scenario;
}

/// Wide tables of few rows read better on their side: one line per column.
Grid transposed(const Grid& grid) {
    Grid turned(grid[0].size());
    for (const auto& row : grid)
        for (std::size_t column = 0; column < turned.size(); ++column)
            turned[column].push_back(row[column]);
    return turned;
}

/// One metric as columns of cells.
void add_metric(Grid& grid, const std::vector<Row>& rows, const MetricSpec& metric,
                bool is_figure) {
    std::map<std::vector<OrderedValue>, std::string> labels;  // sorted as numbers, not as text
    for (const Row& row : rows)
        for (const store::Sample* sample : row.samples)
            for (const store::MetricValue& value : sample->metrics) {
                if (value.name != metric.name) continue;
                std::vector<OrderedValue> key;
                for (const auto& [name, label] : value.labels) key.push_back({0, label});
                labels.emplace(key, to_string(value.labels));
            }
    if (labels.empty()) return;
    const bool split = labels.size() <= most_label_columns;
    const auto cells = [&](const std::string* only) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            std::vector<double> values;
            for (const store::Sample* sample : rows[i].samples)
                for (const store::MetricValue& value : sample->metrics)
                    if (value.name == metric.name && (!only || to_string(value.labels) == *only))
                        values.push_back(value.value);
            grid[i + 1].push_back(summary(std::move(values)));
        }
    };
    if (!split) {
        grid[0].push_back(titled(metric, "") + " (all labels)");
        cells(nullptr);
        return;
    }
    for (const auto& [key, text] : labels) {
        std::string title = titled(metric, text);
        if (!text.empty() && !is_figure) title = metric.name + " " + text;
        grid[0].push_back(title);
        cells(&text);
    }
}

}  // namespace

Grid result_table(const Experiment& experiment, std::span<const store::Sample> samples) {
    std::map<std::string, std::set<std::string>> seen;
    std::set<Profile> profiles;
    std::set<Provenance> provenances;
    std::set<std::string> scenarios;
    bool repeated = false;
    for (const store::Sample& sample : samples) {
        for (const auto& [axis, value] : with_unnamed_values(experiment, sample.spec))
            seen[axis].insert(to_string(value));
        profiles.insert(sample.spec.profile);
        provenances.insert(sample.spec.provenance);
        scenarios.insert(sample.spec.scenario);
    }
    std::vector<std::string> axes;
    for (const Axis& axis : experiment.axes)
        if (seen[axis.name].size() > 1) axes.push_back(axis.name);

    const std::vector<OriginLabel> origins =
        origin_labels(samples, [](const store::Sample& sample) { return asked_for(sample); });
    std::map<RowKey, Row> grouped;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const store::Sample& sample = samples[i];
        if (sample.status != "ok") continue;
        RowKey key{{},
                   variant_slot(experiment, sample.spec.variant),
                   sample.spec.profile,
                   sample.spec.provenance,
                   sample.spec.scenario,
                   origins[i].text()};
        const Case named = with_unnamed_values(experiment, sample.spec);
        for (const std::string& axis : axes) {
            const auto found = named.find(axis);
            key.axes.push_back(found == named.end() ? OrderedValue{}
                                                    : ordered(experiment, axis, found->second));
        }
        Row& row = grouped[key];
        row.samples.push_back(&sample);
        row.origin = origins[i];
        repeated = repeated || row.samples.size() > 1;
    }

    Grid grid(1);
    grid[0] = axes;
    grid[0].push_back("variant");
    if (profiles.size() > 1) grid[0].push_back("profile");
    if (provenances.size() > 1) grid[0].push_back("how");
    if (scenarios.size() > 1) grid[0].push_back("faults");
    std::vector<std::pair<const char*, std::string OriginLabel::*>> apart;
    for (const auto& [name, part] : {std::pair("machine", &OriginLabel::machine),
                                     {"calibration", &OriginLabel::calibration},
                                     {"data", &OriginLabel::data}})
        if (std::any_of(grouped.begin(), grouped.end(), [part = part](const auto& row) {
                return !(row.second.origin.*part).empty();
            }))
            apart.emplace_back(name, part);
    for (const auto& [name, part] : apart) grid[0].emplace_back(name);
    if (repeated) grid[0].push_back("samples");
    std::vector<Row> rows;
    for (const auto& [key, row] : grouped) {
        std::vector<std::string> cells;
        for (const OrderedValue& value : key.axes) cells.push_back(to_string(value.value));
        cells.push_back(row.samples.front()->spec.variant);
        if (profiles.size() > 1) cells.emplace_back(to_string(key.profile));
        if (provenances.size() > 1) cells.emplace_back(to_string(key.provenance));
        if (scenarios.size() > 1) cells.push_back(faults_cell(key.scenario));
        for (const auto& [name, part] : apart) cells.push_back(row.origin.*part);
        if (repeated) cells.push_back(std::to_string(row.samples.size()));
        grid.push_back(std::move(cells));
        rows.push_back(row);
    }
    if (const MetricSpec* first = experiment.metric(experiment.figure.metric))
        add_metric(grid, rows, *first, true);
    for (const MetricSpec& metric : experiment.metrics)
        if (metric.name != experiment.figure.metric) add_metric(grid, rows, metric, false);
    return grid[0].size() > most_columns && rows.size() <= few_rows ? transposed(grid) : grid;
}

}  // namespace assay::report
