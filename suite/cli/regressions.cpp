// assay regressions: slowdowns and what became of each.
#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/cli/command.hpp"
#include "suite/cli/json_output.hpp"
#include "suite/cli/reading_database.hpp"
#include "suite/cli/terminal.hpp"
#include "suite/report/report.hpp"
#include "suite/report/row_name.hpp"
#include "suite/store/nights.hpp"

namespace assay::cli {
namespace {

struct RegressionOptions {
    std::string suite;
    bool all = false, json = false;
};

bool is_open(const store::RegressionRecord& record) {
    return record.state == "candidate" || record.state == "confirmed";
}

std::string state_text(const std::string& state) { return state.empty() ? "taken back" : state; }

nlohmann::json regression_json(const store::RegressionRecord& record) {
    nlohmann::json steps = nlohmann::json::array();
    for (const store::RegressionStep& step : record.steps)
        steps.push_back(
            {{"at", step.at},
             {"night", step.night.empty() ? nlohmann::json() : nlohmann::json(step.night)},
             {"state", state_text(step.state)},
             {"why", step.why}});
    return {{"suite", record.suite},
            {"machine", record.machine},
            {"series", record.row.series_text()},
            {"metric", record.row.metric_text()},
            {"id", to_json(record.row)},
            {"state", state_text(record.state)},
            {"opened", record.opened},
            {"changed", record.changed},
            {"steps", std::move(steps)}};
}

/// "candidate 11-19 → confirmed 11-20 (seen in a second night)"
std::string life_text(const store::RegressionRecord& record) {
    std::string text, last;
    for (const store::RegressionStep& step : record.steps) {
        if (!text.empty() && step.state == last) continue;
        text += fmt::format("{}{} {} ({})", text.empty() ? "" : "\n", step.at.substr(0, 10),
                            state_text(step.state), step.why);
        last = step.state;
    }
    return text;
}

int list_regressions(const RegressionOptions& options, const Context& context) {
    store::Store store = open_existing(context);
    std::vector<store::RegressionRecord> records =
        store::Nights(store).regressions(options.suite, "");
    if (!options.all) std::erase_if(records, [](const auto& record) { return !is_open(record); });
    if (options.json) {
        nlohmann::json all = nlohmann::json::array();
        for (const auto& record : records) all.push_back(regression_json(record));
        print_json(all);
        return exit_ok;
    }
    report::Grid grid = {{"suite", "row", "state", "life"}};
    std::vector<RowId> ids;
    for (const auto& record : records) ids.push_back(record.row);
    const report::RowNames names(ids);
    for (const auto& record : records) {
        const report::RowName name = names.of(record.row);
        grid.push_back({record.suite,
                        name.series_text() + (name.metric.empty() ? "" : "\n" + name.metric),
                        state_text(record.state), life_text(record)});
    }
    if (records.empty())
        std::cout << (options.all ? "no regression was ever seen\n"
                                  : "no open regression; --all shows those that ended\n");
    else
        std::cout << report::text_table(grid, text_columns());
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
        "accepted: the new level; fixed: back for two nights; ignored: muted.\n"
        "Examples:\n"
        "  assay regressions\n"
        "  assay regressions --suite cpu --all");
    command->callback([options, &context] {
        context.action = [options, &context] { return list_regressions(*options, context); };
    });
}

}  // namespace assay::cli
