#include "suite/report/text/paper_cells.hpp"

#include <algorithm>
#include <vector>

#include "suite/claim/quantity.hpp"

namespace assay::report {
namespace {

bool has(const Case& coordinates, const std::string& word) {
    return std::any_of(coordinates.begin(), coordinates.end(),
                       [&](const auto& entry) { return to_string(entry.second) == word; });
}

bool is_named(const store::Sample& sample, const store::MetricValue& metric,
              const std::string& word) {
    if (sample.spec.variant == word || has(sample.spec.axes, word)) return true;
    return std::any_of(metric.labels.begin(), metric.labels.end(),
                       [&](const auto& label) { return to_string(label.second) == word; });
}

// At the axis values that the claim fixes, but where the cell itself names another.
bool is_asked_for(const Claim& claim, const Cell& cell, const store::Sample& sample) {
    return std::all_of(claim.of.where.begin(), claim.of.where.end(), [&](const auto& wanted) {
        const auto axis = sample.spec.axes.find(wanted.first);
        if (axis == sample.spec.axes.end() || same_value(axis->second, wanted.second)) return true;
        const std::string there = to_string(axis->second);
        return there == cell.row || there == cell.column;
    });
}

std::string ours(const Claim& claim, const Cell& cell, std::span<const store::Sample> samples) {
    std::vector<double> values;
    for (const store::Sample& sample : samples)
        for (const store::MetricValue& metric : sample.metrics)
            if (metric.name == claim.metric && is_asked_for(claim, cell, sample) &&
                is_named(sample, metric, cell.row) && is_named(sample, metric, cell.column))
                values.push_back(metric.value);
    return values.empty() ? "–" : number(median(values));
}

}  // namespace

Grid cells_grid(const Claim& claim, std::span<const store::Sample> samples) {
    if (claim.cells.empty()) return {};
    Grid grid{{"row", "column", "paper", "ours"}};
    for (const Cell& cell : claim.cells)
        grid.push_back({cell.row, cell.column, number(cell.value), ours(claim, cell, samples)});
    return grid;
}

}  // namespace assay::report
