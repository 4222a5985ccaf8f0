#include "suite/cli/contrast_table.hpp"
#include "suite/cli/terminal.hpp"

#include <fmt/format.h>

#include <cmath>

#include "suite/experiment/row_id.hpp"
#include "suite/report/report.hpp"

namespace assay::cli {
namespace {

std::string ratio_text(double ratio) {
    return std::isfinite(ratio) ? fmt::format("{:.4f}", ratio) : "-";
}

}  // namespace

std::string contrast_table(std::span<const runner::Contrast> contrasts) {
    report::Grid grid{{"experiment", "case", "variant", "against", "metric", "ratio", "interval",
                       "rounds", "verdict"}};
    for (const runner::Contrast& contrast : contrasts) {
        const bool has_interval = std::isfinite(contrast.answer.low);
        const std::string axes = assay::to_string(contrast.axes);
        grid.push_back({contrast.experiment, axes.empty() ? "-" : axes, contrast.variant,
                        contrast.against, metric_text(contrast.metric.name, contrast.metric.labels),
                        ratio_text(contrast.ratio),
                        has_interval ? fmt::format("{} … {}", ratio_text(contrast.answer.low),
                                                   ratio_text(contrast.answer.high))
                                     : "-",
                        std::to_string(contrast.rounds), std::string(contrast.verdict())});
    }
    return report::text_table(grid, text_columns());
}

std::string saved_line(long saved) {
    if (saved == 0) return {};
    return fmt::format("{} samples saved: what was decided needed no more rounds\n", saved);
}

}  // namespace assay::cli
