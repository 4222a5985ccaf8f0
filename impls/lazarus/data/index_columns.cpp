#include "impls/lazarus/data/index_columns.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace assay::lazarus {
namespace {

/// How a column runs.
struct Run {
    std::size_t period = 0;  ///< lines until it begins anew; all of them where it does not
    bool is_constant = false;
    bool is_even = false;  ///< by the same step
    Tokens step = 0;       ///< from the first line to the second
};

/// Nothing where it neither rises nor falls all the way, nor begins anew as it began.
std::optional<Run> run_of(const std::vector<Loads>& lines, std::size_t column) {
    const auto at = [&](std::size_t i) { return lines[i][column]; };
    if (lines.size() < 2) return std::nullopt;
    Run run{.period = lines.size(), .is_even = true, .step = at(1) - at(0)};
    run.is_constant = std::all_of(lines.begin(), lines.end(),
                                  [&](const Loads& line) { return line[column] == at(0); });
    if (run.is_constant) return run;
    if (run.step == 0) return std::nullopt;
    for (std::size_t i = 2; i < lines.size(); ++i)
        if (at(i) == at(0)) {
            run.period = i;
            break;
        }
    for (std::size_t i = 1; i < run.period; ++i) {
        const Tokens step = at(i) - at(i - 1);
        if ((step > 0) != (run.step > 0) || step == 0) return std::nullopt;
        run.is_even = run.is_even && step == run.step;
    }
    for (std::size_t i = run.period; i < lines.size(); ++i)
        if (at(i) != at(i - run.period)) return std::nullopt;
    return run;
}

/// How far the lines' sums lie apart, without the column `without` if there is one.
long double spread_of_sums(const std::vector<Loads>& lines, std::optional<std::size_t> without) {
    long double least = std::numeric_limits<long double>::infinity(), most = -least;
    for (const Loads& line : lines) {
        long double all = 0;
        for (const Tokens t : line) all += static_cast<long double>(t);
        if (without) all -= static_cast<long double>(line[*without]);
        least = std::min(least, all);
        most = std::max(most, all);
    }
    return most - least;
}

/// Eight times smaller than what stands beside it, in the mean.
bool is_small(const std::vector<Loads>& lines, std::size_t column) {
    long double others = 0;
    Tokens largest = 0;
    for (const Loads& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (i == column)
                largest = std::max(largest, line[i]);
            else
                others += static_cast<long double>(line[i]);
        }
    const auto many = static_cast<long double>(lines.size() * (lines.front().size() - 1));
    return others / many > 8.0L * static_cast<long double>(largest);
}

/// On two lines any column rises or falls.
ColumnKind kind_on_two_lines(const std::vector<Loads>& lines, std::size_t column, const Run& run) {
    if (run.is_constant || (run.step != 1 && run.step != -1) || !is_small(lines, column))
        return ColumnKind::loads;
    return std::min(lines[0][column], lines[1][column]) <= 1 ? ColumnKind::index
                                                             : ColumnKind::doubtful;
}

}  // namespace

ColumnKind kind_of_column(const std::vector<Loads>& lines, std::size_t column) {
    const std::optional<Run> run = run_of(lines, column);
    const std::size_t width = lines.empty() ? 0 : lines.front().size();
    if (!run || width < 2) return ColumnKind::loads;
    const long double with = spread_of_sums(lines, std::nullopt),
                      without = spread_of_sums(lines, column);
    if (with == 0 || 2 * with < without) return ColumnKind::loads;
    const bool small = is_small(lines, column);
    const ColumnKind suspected = small ? ColumnKind::doubtful : ColumnKind::loads;
    if (lines.size() == 2) return kind_on_two_lines(lines, column, *run);
    if (run->is_constant) return lines[0][column] == 0 ? ColumnKind::loads : suspected;
    std::size_t running = 0, even = 0;
    for (std::size_t each = 0; each < width; ++each) {
        const std::optional<Run> other = run_of(lines, each);
        running += other && !other->is_constant;
        even += other && !other->is_constant && other->is_even;
    }
    const bool repeats = run->period < lines.size();
    if (run->is_even && even == width) return ColumnKind::loads;
    if (repeats) {
        const bool sure = (run->is_even && (run->step == 1 || run->step == -1)) ||
                          (run->period >= 3 && lines.size() >= 2 * run->period);
        return sure ? ColumnKind::index : suspected;
    }
    if (run->is_even) {
        if (small || (run->step > 0 && column == 0)) return ColumnKind::index;
        return column == 0 ? ColumnKind::doubtful : ColumnKind::loads;
    }
    // Of three lines every third column rises or falls by chance, of six one in 360.
    const bool long_enough = lines.size() >= 6, not_of_the_sums = 2 * without < with;
    if (small && not_of_the_sums) return ColumnKind::index;
    if (running == width) return suspected;
    if (long_enough && (small || not_of_the_sums)) return ColumnKind::index;
    return long_enough || not_of_the_sums ? ColumnKind::doubtful : suspected;
}

}  // namespace assay::lazarus
