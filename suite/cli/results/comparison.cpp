#include "suite/cli/results/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include "suite/base/error.hpp"
#include "suite/compare/matching.hpp"
#include "suite/compare/rows_output.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::cli {
namespace {

using compare::Row;
using compare::RowVerdict;

constexpr std::size_t most_explained = 5;
constexpr std::size_t most_candidates = 10;
constexpr std::size_t most_known = 20;

constexpr std::array row_verdicts{
    RowVerdict::same,           RowVerdict::faster, RowVerdict::slower,       RowVerdict::ambiguous,
    RowVerdict::not_comparable, RowVerdict::failed, RowVerdict::failed_before};

std::set<RowVerdict> verdicts_called(const std::string& word) {
    if (word == "regressions") return {RowVerdict::slower, RowVerdict::failed};
    if (word == "improvements") return {RowVerdict::faster};
    if (word == "changes") return {RowVerdict::slower, RowVerdict::faster, RowVerdict::failed};
    for (const RowVerdict verdict : row_verdicts) {
        std::string name(to_string(verdict));
        std::replace(name.begin(), name.end(), ' ', '-');
        if (word == name) return {verdict};
    }
    throw UserError(
        fmt::format("--only '{}': one of regressions, improvements, changes, same, faster, slower, "
                    "ambiguous, not-comparable, failed, failed-before-too",
                    word));
}

/// What an option may call a series; first as it is listed.
using Names = std::vector<std::string>;
using NamesOf = std::function<Names(const compare::Series&)>;

Names experiment_names(const compare::Series& series) {
    Names names{series.name.experiment};
    if (const auto imported = report::imported_benchmark(series.name))
        names.insert(names.begin(), *imported);
    if (RowId bare = series.name; !bare.axes.empty()) {
        bare.axes.clear();  // of a tool's file: the benchmark with any parameters
        if (const auto imported = report::imported_benchmark(bare)) names.push_back(*imported);
    }
    if (const auto benchmark = report::benchmark_name(series.name))
        names.insert(names.begin(), benchmark->first);
    return names;
}

/// None for one that stands for all metrics of a case.
Names metric_names(const compare::Series& series) {
    if (series.name.metric.empty()) return {};
    return {series.name.metric, series.name.metric_text()};
}

bool matches(const std::string& pattern, const Names& names) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return pattern == name || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    });
}

[[noreturn]] void neither_side_has(const char* option, const std::string& pattern,
                                   const std::set<std::string>& known) {
    std::vector<std::string> all(known.begin(), known.end());
    const bool is_name = pattern.find_first_of("*?[") == std::string::npos;
    const auto nearest = is_name ? nearest_id(pattern, all) : std::nullopt;
    const std::size_t more = all.size() > most_known ? all.size() - most_known : 0;
    all.resize(all.size() - more);
    throw UserError(
        fmt::format("{} {}: neither side has it;{} there are: {}{}", option, pattern,
                    nearest ? fmt::format(" did you mean '{}'?", *nearest) : std::string(),
                    fmt::join(all, ", "), more ? fmt::format(" and {} more", more) : ""));
}

/// Keeps what one of the patterns names, and what has no name. UserError for a pattern that names
/// nothing, unless there is nothing to name.
void keep(compare::Arm& a, compare::Arm& b, const char* option,
          const std::vector<std::string>& patterns, const NamesOf& names_of) {
    if (patterns.empty()) return;
    std::set<std::string> known;
    std::set<std::string> unused(patterns.begin(), patterns.end());
    for (compare::Arm* arm : {&a, &b})
        std::erase_if(arm->series, [&](const compare::Series& series) {
            const Names names = names_of(series);
            if (names.empty()) return false;
            known.insert(report::printable(names.front()));
            bool wanted = false;
            for (const std::string& pattern : patterns)
                if (matches(pattern, names)) {
                    unused.erase(pattern);
                    wanted = true;
                }
            return !wanted;
        });
    if (!known.empty() && !unused.empty()) neither_side_has(option, *unused.begin(), known);
}

std::vector<report::NumberedRow> rows_with(const std::vector<Row>& rows,
                                           const std::function<bool(const Row&)>& wanted) {
    std::vector<report::NumberedRow> found;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (wanted(rows[i])) found.push_back({i + 1, &rows[i]});
    return found;
}

std::optional<std::size_t> row_number(const std::string& typed) {
    std::size_t number = 0;
    const char* end = typed.data() + typed.size();
    const auto [stop, error] = std::from_chars(typed.data(), end, number);
    return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

bool has_spelling(const Row& row, const std::string& typed) {
    const auto all = report::row_spellings(row.id);
    return std::find(all.begin(), all.end(), typed) != all.end();
}

long count(std::span<const Row> rows, RowVerdict verdict) {
    return std::count_if(rows.begin(), rows.end(),
                         [&](const Row& row) { return row.verdict == verdict; });
}

bool in_mean(const Row& row, Direction better) {
    return row.better == better && row.reason_code != compare::Reason::bimodal &&
           std::isfinite(row.ratio) && row.ratio > 0;
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

double parse_margin(const std::string& text) {
    const char* end = text.data() + text.size();
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    std::string_view rest(stop, static_cast<std::size_t>(end - stop));
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    if (rest == "%") value /= 100;
    if (error != std::errc() || (!rest.empty() && rest != "%") || !(value >= 0 && value < 1))
        throw UserError(fmt::format(
            "--margin '{}': a share of at least 0 and below 1, for example 2% or 0.02", text));
    return value;
}

std::set<std::string> checked_across(const std::vector<std::string>& keys, const compare::Arm& a,
                                     const compare::Arm& b) {
    std::set<std::string> known;
    for (const compare::Arm* arm : {&a, &b})
        for (const compare::Series& series : arm->series)
            for (const auto& [key, value] : series.context) known.insert(key);
    for (const std::string& key : keys)
        if (!known.contains(key))
            throw UserError(fmt::format("--across '{}': one of {}", key, fmt::join(known, ", ")));
    return {keys.begin(), keys.end()};
}

std::map<std::string, Direction> stated_directions(const std::vector<std::string>& words) {
    std::map<std::string, Direction> better;
    for (const std::string& word : words) {
        const auto equals = word.rfind('=');
        const auto direction =
            equals == word.npos ? std::nullopt : of_word<Direction>(word.substr(equals + 1));
        if (!direction || equals == 0 || *direction == Direction::none)
            throw UserError(fmt::format(
                "--better '{}': write NAME=higher or NAME=lower, for example GFLOPS=higher", word));
        const std::string metric = word.substr(0, equals);
        if (better.emplace(metric, *direction).first->second != *direction)
            throw UserError(fmt::format("--better: {} cannot be better higher and lower", metric));
    }
    return better;
}

void state_directions(compare::Arm& a, compare::Arm& b,
                      const std::map<std::string, Direction>& better) {
    for (const auto& [metric, direction] : better) {
        std::set<std::string> known;
        bool found = false;
        for (compare::Arm* arm : {&a, &b})
            for (compare::Series& series : arm->series) {
                if (!series.name.metric.empty()) known.insert(series.name.metric);
                if (series.name.metric != metric) continue;
                series.better = direction;
                found = true;
            }
        if (!found) neither_side_has("--better", metric, known);
    }
}

Undirected undirected(const compare::Arm& a, const compare::Arm& b) {
    std::set<RowId> directed;
    for (const compare::Arm* arm : {&a, &b})
        for (const compare::Series& series : arm->series)
            if (series.better != Direction::none) directed.insert(series.name.without_context());
    Undirected all;
    for (const compare::Arm* arm : {&a, &b}) {
        std::size_t series = 0;
        for (const compare::Series& one : arm->series)
            if (!one.name.metric.empty() && !directed.contains(one.name.without_context())) {
                all.metrics.insert(report::printable(one.name.metric));
                ++series;
            }
        all.series = std::max(all.series, series);
    }
    return all;
}

void keep_only(compare::Arm& a, compare::Arm& b, const std::vector<std::string>& experiments,
               const std::vector<std::string>& metrics) {
    keep(a, b, "--experiment", experiments, experiment_names);
    keep(a, b, "--metric", metrics, metric_names);
}

std::set<RowVerdict> parse_only(const std::vector<std::string>& words) {
    std::set<RowVerdict> wanted;
    for (const std::string& word : words) wanted.merge(verdicts_called(word));
    if (words.empty()) wanted.insert(row_verdicts.begin(), row_verdicts.end());
    return wanted;
}

std::vector<report::NumberedRow> numbered(const std::vector<Row>& rows,
                                          const std::set<RowVerdict>& only) {
    return rows_with(rows, [&](const Row& row) { return only.contains(row.verdict); });
}

std::vector<report::NumberedRow> telling_most(std::vector<report::NumberedRow> rows,
                                              std::size_t most) {
    if (rows.size() <= most) return rows;
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
        return compare::place_of(a.row->verdict) < compare::place_of(b.row->verdict);
    });
    rows.resize(most);
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    return rows;
}

std::vector<report::NumberedRow> rows_named(const std::vector<Row>& rows,
                                            const std::string& typed) {
    if (const auto number = row_number(typed)) {
        if (*number < 1 || *number > rows.size())
            throw UserError(
                fmt::format("--explain {}: there are {} rows, from 1", typed, rows.size()));
        return {{*number, &rows[*number - 1]}};
    }
    const report::RowNames names = compare::names_of(rows);
    for (const auto& wanted : std::initializer_list<std::function<bool(const Row&)>>{
             [&](const Row& row) { return has_spelling(row, typed); },
             [&](const Row& row) {
                 return row.id.text().find(typed) != std::string::npos ||
                        names.of(row.id).text().find(typed) != std::string::npos;
             }}) {
        const auto found = rows_with(rows, wanted);
        if (found.empty()) continue;
        if (found.size() <= most_explained) return found;
        std::vector<std::string> some;
        for (const auto& [number, row] : found)
            if (some.size() < most_candidates)
                some.push_back(fmt::format("\n  {}  {}", number, names.of(row->id).text()));
        throw UserError(fmt::format("--explain '{}': {} rows match; give the number of one:{}{}",
                                    typed, found.size(), fmt::join(some, ""),
                                    found.size() > most_candidates ? "\n  …" : ""));
    }
    std::vector<std::string> series;
    for (const Row& row : rows) series.push_back(names.of(row.id).series_text());
    const auto nearest = nearest_id(typed, series);
    throw UserError(fmt::format("--explain '{}': no row is called so{}", typed,
                                nearest ? fmt::format("; did you mean '{}'?", *nearest)
                                        : std::string("; give the number of one")));
}

std::string comparison_summary(std::span<const Row> rows, const Undirected& left_out) {
    std::string text = '\n' + compare::counts_text(compare::pointers_to(rows));
    if (left_out.series > 0) {
        constexpr std::size_t most = 3;
        std::vector<std::string> names(left_out.metrics.begin(), left_out.metrics.end());
        if (names.size() > most) {
            names.resize(most);
            names.emplace_back("…");
        }
        text +=
            fmt::format("; {} without a direction ({})", left_out.series, fmt::join(names, ", "));
    }
    text += '\n';
    const char* separator = "geometric mean of B/A: ";
    for (const Direction better : {Direction::lower, Direction::higher})
        if (const std::string mean = mean_text(rows, better); !mean.empty()) {
            text += separator + mean;
            separator = "; ";
        }
    return text.ends_with('\n') ? text : text + '\n';
}

std::string across_hint(std::span<const Row> rows, const std::set<std::string>& across) {
    std::set<std::string> keys;
    for (const Row& row : rows)
        if (row.reason_code == compare::Reason::context_differs)
            for (std::string& key : compare::differing_context(*row.a, *row.b, across))
                keys.insert(std::move(key));
    if (keys.empty()) return {};
    return fmt::format("to compare although {} {}: --across {}\n", fmt::join(keys, ", "),
                       keys.size() == 1 ? "differs" : "differ", fmt::join(keys, ","));
}

ExitCode comparison_exit_code(std::span<const Row> rows) {
    if (count(rows, RowVerdict::slower) + count(rows, RowVerdict::failed) > 0)
        return exit_regression;
    if (count(rows, RowVerdict::ambiguous) > 0) return exit_ambiguous;
    const long unknown =
        count(rows, RowVerdict::not_comparable) + count(rows, RowVerdict::failed_before);
    if (unknown == static_cast<long>(rows.size())) return exit_not_supported;
    return exit_ok;
}

}  // namespace assay::cli
