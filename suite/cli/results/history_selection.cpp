#include "suite/cli/results/history_selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/cli/selection.hpp"
#include "suite/gate/benchmark_experiment.hpp"
#include "suite/gate/row_patterns.hpp"
#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/report/text/stored_experiment.hpp"
#include "suite/store/ids.hpp"

namespace assay::cli {
namespace {

bool names(const std::vector<std::string>& wanted, const std::string& name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

struct SeriesFilter {
    std::vector<std::string> variants;
    std::map<std::string, std::vector<Value>> axes;
    std::optional<Profile> profile;
    std::optional<Provenance> provenance;
    std::string machine;

    bool accepts(const store::SeriesKey& key) const {
        if (!names(variants, key.variant)) return false;
        if (!machine.empty() && !key.hardware.starts_with(machine)) return false;
        if (profile && key.profile != *profile) return false;
        if (provenance && key.provenance != *provenance) return false;
        return std::all_of(axes.begin(), axes.end(), [&](const auto& axis) {
            const auto found = key.axes.find(axis.first);
            return found != key.axes.end() && std::find(axis.second.begin(), axis.second.end(),
                                                        found->second) != axis.second.end();
        });
    }
};

SeriesFilter filter_of(const HistorySelection& selection) {
    SeriesFilter filter;
    filter.variants = selection.variants;
    filter.machine = selection.machine;
    for (const std::string& axis : selection.axes) add_axis(axis, filter.axes);
    if (!selection.profile.empty()) filter.profile = profile_named(selection.profile);
    if (!selection.provenance.empty()) filter.provenance = provenance_named(selection.provenance);
    return filter;
}

/// Results may come from a program that knows more experiments than this one.
std::vector<std::string> experiments_named(const Registry& registry, const store::Store& store,
                                           const std::string& pattern) {
    std::vector<std::string> ids;
    for (const std::string& id : store.experiments())
        if (pattern == "all" || gate::pattern_matches(pattern, id)) ids.push_back(id);
    try {
        for (const Experiment* experiment : registry.select(pattern))
            if (std::find(ids.begin(), ids.end(), experiment->id) == ids.end())
                ids.push_back(experiment->id);
    } catch (const UnknownExperiment&) {
        if (ids.empty()) throw;
    }
    return ids;
}

struct Named {
    std::vector<std::string> experiments;
    /// A pattern of their rows, as reports or the database call them; empty: all.
    std::string rows;
    std::string all_of_them;  ///< what names the experiments without rows

    bool accepts(const store::SeriesKey& series, const store::MetricKey& metric) const {
        return rows.empty() ||
               gate::pattern_matches(rows, report::row_spellings(store::row_id(series, metric)));
    }
};

/// Whether a report calls an imported benchmark as a whole so: "BM_copy/8".
bool names_imported(const std::vector<std::string>& benchmarks, const std::string& pattern) {
    return std::any_of(benchmarks.begin(), benchmarks.end(), [&](const std::string& id) {
        RowId row;
        row.experiment = id;
        return gate::pattern_matches(pattern, report::series_spellings(row));
    });
}

/// Whether a report calls a row of these benchmarks so: "BM_copy/8", "benchmark/planner",
/// "BM_f<int, char> · cpu_time".
bool names_benchmark(const store::Store& store, const std::vector<std::string>& benchmarks,
                     const std::string& pattern) {
    if (names_imported(benchmarks, pattern)) return true;
    for (const std::string& id : benchmarks)
        for (const store::SeriesKey& series : store.series_of(id))
            for (const store::MetricKey& metric : store.metrics_of(series))
                if (Named{{}, pattern, {}}.accepts(series, metric)) return true;
    return false;
}

std::vector<std::string> benchmarks_in(const store::Store& store) {
    std::vector<std::string> all = store.experiments();
    std::erase_if(all, [](const std::string& id) { return !id.starts_with(benchmark_prefix); });
    return all;
}

/// No id of an experiment of ours has a blank: what has one names rows.
Named named_by(const Registry& registry, const store::Store& store, const std::string& pattern) {
    const auto blank = pattern.find(' ');
    const std::string experiment = pattern.substr(0, blank);
    // Reports call a suite's benchmark after its entry, and an imported one by its own name, which
    // may have blanks.
    const std::vector<std::string> benchmarks = benchmarks_in(store);
    try {
        if (blank == pattern.npos || !store.series_of(pattern).empty())
            return {experiments_named(registry, store, pattern), "", pattern};
        if (!experiment.starts_with(benchmark_prefix))
            return {experiments_named(registry, store, experiment), pattern, experiment};
    } catch (const UnknownExperiment&) {
        // A program of a suite, "benchmark/planner", is no experiment either.
        const bool is_benchmark = experiment.starts_with(benchmark_prefix);
        if (benchmarks.empty() || (!is_benchmark && !names_benchmark(store, benchmarks, pattern)))
            throw;
    }
    return {benchmarks, pattern, std::string(benchmark_prefix) + "*"};
}

/// What the selection met on the way, for the sentence when nothing is left.
struct Seen {
    long series = 0, accepted = 0;
    std::set<std::string> metrics;
    std::set<std::string> machines;  ///< of all series
};

/// UserError where several machines begin as the word does, or none.
void expect_one_machine(const std::string& typed, const std::set<std::string>& machines) {
    std::vector<std::string> begin;
    for (const std::string& machine : machines)
        if (machine.starts_with(typed)) begin.push_back(machine);
    if (typed.empty() || begin.size() == 1) return;
    throw UserError(fmt::format(
        "--machine {}: {}; known: {}", typed,
        begin.empty() ? "no such machine here" : "several begin so",
        fmt::join(
            begin.empty() ? std::vector<std::string>(machines.begin(), machines.end()) : begin,
            ", ")));
}

[[noreturn]] void nothing_selected(const store::Store& store, const HistorySelection& selection,
                                   const Seen& seen) {
    if (seen.series == 0)
        throw UserError(fmt::format(
            "{} holds no sample of {} that is ok{}", store.path().string(), selection.pattern,
            selection.pattern.starts_with(benchmark_prefix)
                ? std::string()
                : fmt::format("; {} makes some", suggested("run " + selection.pattern))));
    if (seen.accepted == 0)
        throw UserError(
            fmt::format("none of the {} series of {} is of that variant, axis, profile, mode or "
                        "machine; "
                        "{} lists them",
                        seen.series, selection.pattern,
                        suggested("history " + shell_quoted(selection.pattern))));
    if (seen.metrics.empty())
        throw UserError(fmt::format("no sample of {} recorded a finite number in that time",
                                    selection.pattern));
    throw UserError(fmt::format("no such metric of {} in that time; recorded: {}",
                                selection.pattern, fmt::join(seen.metrics, ", ")));
}

}  // namespace

std::vector<report::Trend> selected_trends(const Registry& registry, const store::Store& store,
                                           const HistorySelection& selection,
                                           const report::TrendOptions& options) {
    const SeriesFilter filter = filter_of(selection);
    std::vector<report::Trend> trends;
    Seen seen;
    const Named named = named_by(registry, store, selection.pattern);
    std::vector<store::SeriesKey> accepted;
    const store::HistoryFilter wanted{
        .series =
            [&](const store::SeriesKey& key) {
                ++seen.series;
                if (!key.hardware.empty()) seen.machines.insert(key.hardware);
                if (!filter.accepts(key)) return false;
                accepted.push_back(key);
                return true;
            },
        .metric =
            [&](const store::SeriesKey& key, const store::MetricKey& metric) {
                return named.accepts(key, metric) &&
                       (names(selection.metrics, metric.name) ||
                        names(selection.metrics, metric_key(metric.name, metric.labels)));
            },
        .since = selection.since};
    for (const std::string& id : named.experiments) {
        const Experiment known = report::with_stored_metrics(registry.experiment(id), store, id);
        for (store::SeriesHistory& history : store.histories(id, wanted)) {
            std::vector<store::HistoryPoint>& points = history.points;
            std::erase_if(points, [](const store::HistoryPoint& point) {
                return point.suspects->contains(store::rerun_mark);
            });
            if (points.empty()) continue;
            const auto last = static_cast<std::size_t>(selection.last);
            if (last > 0 && points.size() > last)
                points.erase(points.begin(), points.end() - static_cast<long>(last));
            trends.push_back(report::make_trend(&known, history.series, history.metric,
                                                std::move(points), options));
        }
    }
    if (seen.series > 0) expect_one_machine(selection.machine, seen.machines);
    if (!trends.empty()) {
        report::SeriesEnds ends(store);
        for (report::Trend& trend : trends) trend.end = ends.of(trend);
        return trends;
    }
    for (const store::SeriesKey& key : accepted)
        for (const store::MetricKey& metric : store.metrics_of(key))
            if (named.accepts(key, metric)) seen.metrics.insert(metric.name);
    if (!named.rows.empty() && seen.metrics.empty()) {
        std::vector<std::string> without_values = named.experiments;
        std::erase_if(without_values,
                      [&](const std::string& id) { return !store.series_of(id).empty(); });
        if (names_imported(without_values, named.rows))
            throw UserError(fmt::format(
                "no sample of {} ended well, so it has no history; "
                "{} says why",
                named.rows, suggested("compare … --explain " + shell_quoted(named.rows))));
        if (!accepted.empty())
            throw UserError(fmt::format("no row is called '{}'; {} lists them", named.rows,
                                        suggested("history " + shell_quoted(named.all_of_them))));
    }
    seen.accepted = static_cast<long>(accepted.size());
    nothing_selected(store, selection, seen);
}

}  // namespace assay::cli
