#include "suite/cli/results/history_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <utility>

#include "suite/measure/environment.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/report/text/text_table.hpp"
#include "suite/store/ids.hpp"

namespace assay::cli {
namespace {

std::vector<RowId> rows_of(const std::vector<report::Trend>& trends) {
    std::vector<RowId> ids;
    for (const report::Trend& trend : trends)
        ids.push_back(store::row_id(trend.series, trend.metric));
    return ids;
}

/// Of each machine what a list calls it: "1a2b3c4d (cores 2)", with the hardware in which they
/// differ.
std::map<std::string, std::string> machine_names(const store::Store& store,
                                                 const std::vector<report::Trend>& trends) {
    std::map<std::string, measure::HardwareFacts> machines;
    for (const report::Trend& trend : trends) {
        const std::string& fingerprint = trend.series.hardware;
        if (fingerprint.empty() || machines.contains(fingerprint)) continue;
        const auto machine = store.machine(fingerprint);
        machines[fingerprint] =
            machine ? measure::hardware_facts(machine->description) : measure::HardwareFacts();
    }
    std::map<std::string, std::string> names;
    for (const auto& [fingerprint, facts] : machines) {
        std::set<std::string> apart;
        for (const auto& [other, facts_of_other] : machines)
            for (const auto& [name, here, there] :
                 measure::hardware_differences(facts, facts_of_other))
                apart.insert(fmt::format("{} {}", name, here));
        names[fingerprint] = short_hash(fingerprint);
        if (!apart.empty()) names[fingerprint] += fmt::format(" ({})", fmt::join(apart, ", "));
    }
    return names;
}

/// Of each trend " (data 1a2b3c4d)" where another one differs from it in nothing but what it was
/// calibrated with or read.
std::vector<std::string> input_texts(const std::vector<report::Trend>& trends) {
    constexpr std::pair<const char*, std::string store::SeriesKey::*> inputs[] = {
        {"calibration", &store::SeriesKey::calibration}, {"data", &store::SeriesKey::data}};
    using Row = std::pair<RowId, std::string>;  // and its machine
    std::map<Row, std::map<std::string, std::set<std::string>>> hashes;
    const auto row_of = [](const report::Trend& trend) {
        return Row(store::row_id(trend.series, trend.metric), trend.series.hardware);
    };
    for (const report::Trend& trend : trends)
        for (const auto& [name, of] : inputs) hashes[row_of(trend)][name].insert(trend.series.*of);
    std::vector<std::string> texts;
    for (const report::Trend& trend : trends) {
        std::vector<std::string> parts;
        for (const auto& [name, of] : inputs)
            if (const std::string& hash = trend.series.*of; hashes[row_of(trend)][name].size() > 1)
                parts.push_back(hash.empty() ? fmt::format("no {}", name)
                                             : fmt::format("{} {}", name, short_hash(hash)));
        texts.push_back(parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", ")));
    }
    return texts;
}

std::string newest_word(const report::Trend& trend) {
    if (trend.end)
        return fmt::format("ended {:.10}, {} sessions ago", trend.points.back().started,
                           trend.end->sessions_ago);
    return !trend.newest ? "–" : trend.newest->unusual ? "unusual" : "usual";
}

}  // namespace

std::string trend_list(const store::Store& store, const std::vector<report::Trend>& trends,
                       std::size_t columns) {
    const report::RowNames names(rows_of(trends));
    const std::map<std::string, std::string> machines = machine_names(store, trends);
    report::Grid rows{{"series", "metric", "sessions", "newest", "change points", "newest is"}};
    if (machines.size() > 1) rows[0].insert(rows[0].begin() + 1, "machine");
    const std::vector<std::string> inputs = input_texts(trends);
    std::size_t narrowed = 0;
    for (std::size_t i = 0; i < trends.size(); ++i) {
        const report::Trend& trend = trends[i];
        std::string changes = trend.changes.empty() ? "none" : std::to_string(trend.changes.size());
        if (!trend.changes.empty())
            changes += ", last " + report::change_text(trend.changes.back().at);
        std::string newest = report::number(trend.points.back().median);
        if (!trend.unit.empty()) newest += ' ' + trend.unit;
        const report::RowName name = names.of(store::row_id(trend.series, trend.metric));
        if (!trend.left_out.empty()) ++narrowed;
        rows.push_back({name.series_text() + inputs[i],
                        name.metric.empty() ? trend.metric.name : trend.number(),
                        std::to_string(trend.points.size()), newest, changes, newest_word(trend)});
        if (machines.size() > 1)
            rows.back().insert(rows.back().begin() + 1, trend.series.hardware.empty()
                                                            ? "–"
                                                            : machines.at(trend.series.hardware));
    }
    std::string text = report::text_table(rows, columns);
    if (narrowed > 0)
        text += fmt::format(
            "{} of them {} sessions of unequal seeds or rounds, which are compared on what they "
            "have in common; drawn alone, or with --all, each says so\n",
            narrowed, narrowed == 1 ? "has" : "have");
    return text;
}

}  // namespace assay::cli
