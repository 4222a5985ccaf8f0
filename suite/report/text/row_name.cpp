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
    if (id.experiment != benchmark_experiment || id.metric != benchmark_metric ||
        name == id.axes.end() || benchmark == id.labels.end())
        return std::nullopt;
    return std::pair(std::string(benchmark_prefix) + printable(to_string(name->second)),
                     printable(to_string(benchmark->second)));
}

RowName row_name(const RowId& id) {
    if (const auto benchmark = benchmark_name(id))
        return {benchmark->first + ' ' + benchmark->second, "", ""};
    // A program as a whole: all of its benchmarks, before they are known or when it failed.
    const auto name = id.axes.find(name_axis);
    if (id.experiment == benchmark_experiment && id.metric.empty() && name != id.axes.end())
        return {"benchmark/" + to_string(name->second), "", ""};
    return whole_name(id);
}

std::optional<std::string> imported_benchmark(const RowId& id) {
    if (!id.experiment.starts_with(benchmark_prefix) || !id.variant.empty() || !id.axes.empty())
        return std::nullopt;
    return printable(std::string_view(id.experiment).substr(benchmark_prefix.size()));
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

std::vector<std::string> series_spellings(const RowId& id) {
    std::vector<std::string> all;
    std::vector<RowName> names{row_name(id), row_name(id.series()), whole_name(id), exact_name(id)};
    names.push_back({id.series_text(), "", ""});  // as it is, where that does not print
    if (auto benchmark = imported_benchmark(id)) names.push_back({std::move(*benchmark), "", ""});
    // As it stands below its program's name in a table.
    if (auto benchmark = benchmark_name(id))
        names.push_back({std::move(benchmark->second), "", ""});
    for (RowName& name : names)
        for (int which = 0; which < 8; ++which) {
            name.context = context_of(id, {(which & 1) != 0, (which & 2) != 0, (which & 4) != 0});
            all.push_back(name.series_text());
        }
    return all;
}

std::vector<std::string> row_spellings(const RowId& id) {
    std::vector<std::string> all = series_spellings(id);
    const std::string metric = id.metric_text();
    if (metric.empty()) return all;
    for (std::size_t i = 0, n = all.size(); i < n; ++i)
        for (const char* between : {" · ", " "})
            for (const std::string& text : {printable(metric), metric})
                all.push_back(all[i] + between + text);
    return all;
}

}  // namespace assay::report
