#include "suite/cli/comparison_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::cli {
namespace {

using compare::Row;
using compare::Verdict;

long count(std::span<const Row> rows, Verdict verdict) {
    return std::count_if(rows.begin(), rows.end(),
                         [&](const Row& row) { return row.verdict == verdict; });
}

bool in_mean(const Row& row, Direction better) {
    return row.better == better && row.reason_code != compare::Reason::bimodal &&
           std::isfinite(row.ratio) && row.ratio > 0;
}

/// "3 faster", "3 faster (!)" where a warning belongs to each, "3 faster, 1 of them (!)".
std::string count_text(std::span<const Row> rows, Verdict verdict) {
    const long n = count(rows, verdict);
    const long warned = std::count_if(rows.begin(), rows.end(), [&](const Row& row) {
        return row.verdict == verdict && !row.warnings.empty();
    });
    return fmt::format("{} {}{}", n, compare::to_string(verdict),
                       warned == 0   ? ""
                       : warned == n ? " (!)"
                                     : fmt::format(", {} of them (!)", warned));
}

/// "lower is better: 1.012 over 10 rows"; "" for fewer than two.
std::string mean_text(std::span<const Row> rows, Direction better) {
    double sum = 0;
    int n = 0;
    for (const Row& row : rows)
        if (in_mean(row, better)) {
            sum += std::log(row.ratio);
            ++n;
        }
    if (n < 2) return {};
    return fmt::format("{:.4g} over {} rows where {} is better", std::exp(sum / n), n,
                       to_string(better));
}

}  // namespace

std::string comparison_summary(std::span<const Row> rows) {
    std::string text = fmt::format("\n{} row{}", rows.size(), rows.size() == 1 ? "" : "s");
    const char* separator = ": ";
    for (const Verdict verdict :
         {Verdict::same, Verdict::faster, Verdict::slower, Verdict::ambiguous,
          Verdict::not_comparable, Verdict::failed, Verdict::failed_before})
        if (count(rows, verdict) > 0) {
            text += separator + count_text(rows, verdict);
            separator = ", ";
        }
    text += '\n';
    separator = "geometric mean of B/A: ";
    for (const Direction better : {Direction::lower, Direction::higher})
        if (const std::string mean = mean_text(rows, better); !mean.empty()) {
            text += separator + mean;
            separator = "; ";
        }
    return text.ends_with('\n') ? text : text + '\n';
}

ExitCode comparison_exit_code(std::span<const Row> rows) {
    if (count(rows, Verdict::slower) + count(rows, Verdict::failed) > 0) return exit_regression;
    if (count(rows, Verdict::ambiguous) > 0) return exit_ambiguous;
    const long unknown = count(rows, Verdict::not_comparable) + count(rows, Verdict::failed_before);
    if (unknown == static_cast<long>(rows.size())) return exit_not_supported;
    return exit_ok;
}

}  // namespace assay::cli
