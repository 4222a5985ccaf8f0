// assay regressions: slowdowns and what became of each.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/terminal/print_table.hpp"
#include "suite/gate/plan/suite_file.hpp"
#include "suite/gate/row_past.hpp"
#include "suite/gate/row_patterns.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/store/nights.hpp"

namespace assay::cli {
namespace {

struct RegressionOptions {
    std::string suite;
    bool all = false, json = false;
};

std::string state_text(const std::string& state) { return state.empty() ? "taken back" : state; }

std::string state_now(const store::RegressionRecord& record) {
    const auto state = gate::state_of(record);
    return state_text(state ? std::string(to_string(*state)) : "");
}

/// What mutes a row now, a clause each.
std::vector<std::string> mutes_of(const std::vector<store::MuteRecord>& mutes, const RowId& row) {
    std::vector<std::string> words;
    for (const store::MuteRecord& mute : mutes)
        if (store::holds(mute, store::now_utc()) && gate::mutes(mute, row))
            words.push_back(gate::mute_words(mute));
    return words;
}

/// "candidate 11-19 → confirmed 11-20 (seen in a second night)"
std::string life_text(const store::RegressionRecord& record,
                      const std::vector<std::string>& mutes) {
    std::string text, last;
    for (const store::RegressionStep& step : record.steps) {
        if (!text.empty() && step.state == last) continue;
        text += fmt::format("{}{} {} ({})", text.empty() ? "" : "\n", step.at.substr(0, 10),
                            state_text(step.state), report::printable(step.why));
        last = step.state;
    }
    for (const std::string& mute : mutes) text += "\nnow " + report::printable(mute);
    return text;
}

/// A misspelt suite would have no regression for ever.
void refuse_unknown_suite(const std::string& suite, const store::Nights& nights) {
    if (suite.empty()) return;
    std::set<std::string> known;
    for (const store::NightRecord& night : nights.nights("")) known.insert(night.suite);
    if (known.contains(suite)) return;
    const auto nearest = nearest_id(suite, {known.begin(), known.end()});
    throw UserError(fmt::format(
        "no night of a suite '{}' was ever run{}{}", suite,
        nearest ? fmt::format("; did you mean '{}'?", *nearest) : "",
        known.empty() ? std::string() : fmt::format("; known: {}", fmt::join(known, ", "))));
}

int list_regressions(const RegressionOptions& options, const Context& context) {
    store::Store store = open_existing(context);
    const store::Nights nights(store);
    const std::string suite = gate::suite_named(options.suite);
    refuse_unknown_suite(suite, nights);
    std::vector<store::RegressionRecord> records = nights.regressions(suite, "");
    const std::vector<store::MuteRecord> mutes = nights.mutes();
    if (!options.all)
        std::erase_if(records,
                      [](const auto& record) { return !gate::is_open(gate::state_of(record)); });
    std::vector<RowId> ids;
    for (const auto& record : records) ids.push_back(record.row);
    const report::RowNames names(ids);
    using Step = store::RegressionStep;
    const report::Table<Step> steps{
        {"at", "", &Step::at},
        {"night", "", [](const Step& step) { return report::text_or_null(step.night); }},
        {"state", "", [](const Step& step) { return state_text(step.state); }},
        {"why", "", &Step::why}};
    using Record = store::RegressionRecord;
    const auto muted = [&](const Record& record) { return mutes_of(mutes, record.row); };
    const report::Table<Record> table{
        {"suite", "suite", &Record::suite},
        {"row", "row", [&](const Record& record) { return names.of(record.row).text(); }},
        {"state", "state", state_now},
        {"", "life", [&](const Record& record) { return life_text(record, muted(record)); },
         [](const nlohmann::json& lines) { return lines.get<std::string>(); }},
        {"machine", "", &Record::machine},
        {"series", "", [](const Record& record) { return record.row.series_text(); }},
        {"metric", "", [](const Record& record) { return record.row.metric_text(); }},
        {"id", "", [](const Record& record) { return to_json(record.row); }},
        {"opened", "", &Record::opened},
        {"changed", "", &Record::changed},
        {"steps", "", [&](const Record& record) { return steps.values(record.steps); }},
        {"mutes", "", muted}};
    print_table(table, records, options.json,
                options.all ? "no regression was ever seen\n"
                            : "no open regression; --all shows those that ended\n");
    return exit_ok;
}

}  // namespace

void add_regressions_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<RegressionOptions>();
    CLI::App* command = program.add_subcommand("regressions", "Slowdowns that nights have seen");
    command->group("Gate");
    command->add_option("--suite", options->suite, "Of this suite only");
    command->add_flag("--all", options->all, "Those that ended, too");
    command->add_flag("--json", options->json, "Print JSON with every step");
    add_database_option(*command, context);
    command->footer(
        "candidate: seen in one night and in its reruns; confirmed: in two nights, fails;\n"
        "accepted: the new level; fixed: back for two nights. What is muted stays as it is.\n"
        "Examples:\n"
        "  assay regressions\n"
        "  assay regressions --suite cpu --all");
    command->callback([options, &context] {
        context.action = [options, &context] { return list_regressions(*options, context); };
    });
}

}  // namespace assay::cli
