#include "suite/report/text/row_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::report {
namespace {

/// The experiment, its metric, and where the names stand that a person gave (suite/gate).
constexpr std::string_view benchmark_experiment = "benchmark/program";
constexpr std::string_view benchmark_metric = "real_time";
constexpr std::string_view name_axis = "name", benchmark_label = "benchmark";

RowName whole_name(const RowId& id) {
    return {printable(id.series_text()), printable(id.metric_text()), ""};
}

/// For values with blanks or '=' in them, of which the plain text does not tell where they end.
RowName exact_name(const RowId& id) {
    RowId plain = id;
    plain.axes.clear();
    RowName name = {plain.series_text(), id.metric, ""};
    const auto dumped = [](const Case& values) {
        return ' ' + to_json(values).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    };
    if (!id.axes.empty()) name.series += dumped(id.axes);
    if (!id.labels.empty()) name.metric += dumped(id.labels);
    return {printable(name.series), printable(name.metric), ""};
}

/// Which of the three a name tells.
struct Telling {
    bool profile = false, provenance = false, scenario = false;
};

std::string context_of(const RowId& id, Telling telling) {
    std::vector<std::string> parts;
    if (telling.profile)
        parts.emplace_back(id.profile ? to_string(*id.profile) : "unknown profile");
    if (telling.provenance)
        parts.emplace_back(id.provenance ? to_string(*id.provenance) : "unknown provenance");
    if (telling.scenario)
        parts.push_back(id.scenario.empty() ? "no faults" : "faults " + printable(id.scenario));
    return fmt::format("{}", fmt::join(parts, ", "));
}

Telling differences(const std::vector<const RowId*>& ids) {
    Telling telling;
    for (const RowId* id : ids) {
        telling.profile |= id->profile != ids.front()->profile;
        telling.provenance |= id->provenance != ids.front()->provenance;
        telling.scenario |= id->scenario != ids.front()->scenario;
    }
    return telling;
}

}  // namespace

std::string RowName::context_text() const { return context.empty() ? "" : " (" + context + ')'; }

std::string RowName::series_text() const { return series + context_text(); }

std::string RowName::text() const { return series_text() + (metric.empty() ? "" : " · " + metric); }

std::optional<std::pair<std::string, std::string>> benchmark_name(const RowId& id) {
    const auto name = id.axes.find(name_axis);
    const auto benchmark = id.labels.find(benchmark_label);
    if (id.experiment != benchmark_experiment || name == id.axes.end() ||
        benchmark == id.labels.end())
        return std::nullopt;
    return std::pair(std::string(benchmark_prefix) + printable(to_string(name->second)),
                     printable(to_string(benchmark->second)));
}

RowName row_name(const RowId& id) {
    if (const auto benchmark = benchmark_name(id)) {
        RowId number = id;  // its time needs no word, its counters do
        number.labels.erase(std::string(benchmark_label));
        return {benchmark->first + ' ' + benchmark->second,
                id.metric == benchmark_metric ? "" : printable(number.metric_text()), ""};
    }
    // A program as a whole: all of its benchmarks, before they are known or when it failed.
    const auto name = id.axes.find(name_axis);
    if (id.experiment == benchmark_experiment && id.metric.empty() && name != id.axes.end())
        return {"benchmark/" + to_string(name->second), "", ""};
    return whole_name(id);
}

std::optional<std::string> imported_benchmark(const RowId& id) {
    const bool is_a_suites = id.experiment == benchmark_experiment && !id.axes.empty();
    if (!id.experiment.starts_with(benchmark_prefix) || !id.variant.empty() || is_a_suites)
        return std::nullopt;
    const std::string name = id.experiment.substr(benchmark_prefix.size());
    return printable(id.axes.empty() ? name : name + ' ' + to_string(id.axes));
}

RowNames::RowNames(std::span<const RowId> ids) {
    std::map<std::string, std::vector<RowId>> alike;
    for (const RowId& id : std::set<RowId>(ids.begin(), ids.end()))
        alike[row_name(id).text()].push_back(id);
    for (const auto& [text, of] : alike) tell_apart(of);
}

void RowNames::tell_apart(const std::vector<RowId>& alike) {
    std::map<RowId, std::vector<const RowId*>> groups;  // by what is no context
    for (const RowId& id : alike) groups[id.without_context()].push_back(&id);
    RowName (*named)(const RowId&) = row_name;
    if (groups.size() > 1) {
        std::set<std::string> texts;
        for (const auto& [id, of] : groups) texts.insert(whole_name(id).text());
        named = texts.size() == groups.size() ? whole_name : exact_name;
    }
    for (const auto& [id, of] : groups) {
        const Telling telling = differences(of);
        for (const RowId* each : of) {
            RowName& name = names_[*each] = named(*each);
            name.context = context_of(*each, telling);
        }
    }
}

RowName RowNames::of(const RowId& id) const {
    const auto found = names_.find(id);
    return found == names_.end() ? row_name(id) : found->second;
}

namespace {

/// Of the names' series, with each context that a report may tell.
std::vector<std::string> with_contexts(const RowId& id, std::vector<RowName> names) {
    std::vector<std::string> all;
    for (RowName& name : names)
        for (int which = 0; which < 8; ++which) {
            name.context = context_of(id, {(which & 1) != 0, (which & 2) != 0, (which & 4) != 0});
            all.push_back(name.series_text());
        }
    return all;
}

/// What a suite's benchmark measured, and that as it stands below its program's name in a table.
std::vector<RowName> benchmark_names(const RowId& id) {
    const auto benchmark = benchmark_name(id);
    if (!benchmark) return {};
    return {row_name(id), {benchmark->second, "", ""}};
}

bool is_counter(const RowId& id) { return benchmark_name(id) && id.metric != benchmark_metric; }

void add_with(std::vector<std::string>& all, const std::vector<std::string>& series,
              const std::string& metric) {
    for (const std::string& text : series)
        for (const char* between : {" · ", " "}) all.push_back(text + between + metric);
}

}  // namespace

std::vector<std::string> series_spellings(const RowId& id) {
    std::vector<RowName> names{row_name(id.series()), whole_name(id), exact_name(id)};
    names.push_back({id.series_text(), "", ""});  // as it is, where that does not print
    if (auto benchmark = imported_benchmark(id)) names.push_back({std::move(*benchmark), "", ""});
    // The benchmark's name alone is that of its time.
    if (!is_counter(id))
        for (RowName& name : benchmark_names(id)) names.push_back(std::move(name));
    return with_contexts(id, std::move(names));
}

std::vector<std::string> row_spellings(const RowId& id) {
    const std::vector<std::string> series = series_spellings(id);
    std::vector<std::string> all = series;
    const std::string metric = id.metric_text();
    if (metric.empty()) return all;
    for (const std::string& text : {printable(metric), metric}) add_with(all, series, text);
    if (is_counter(id)) add_with(all, with_contexts(id, benchmark_names(id)), row_name(id).metric);
    return all;
}

}  // namespace assay::report
