// assay doctor: is this machine ready, and what is missing?
#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/cli/command.hpp"
#include "suite/cli/diagnosis.hpp"
#include "suite/cli/json_output.hpp"
#include "suite/cli/terminal.hpp"

namespace assay::cli {
namespace {

struct DoctorOptions {
    bool json = false;
};

int run_doctor(const Context& context, const DoctorOptions& options) {
    const std::vector<Finding> findings = diagnose(context);
    if (options.json) {
        nlohmann::json array = nlohmann::json::array();
        for (const Finding& finding : findings)
            array.push_back({{"check", finding.name},
                             {"level", to_string(finding.level)},
                             {"says", finding.says}});
        print_json(array);
    } else {
        for (const Finding& finding : findings)
            std::cout << hanging(
                fmt::format("{:<6} {:<26} ", fmt::format("[{}]", to_string(finding.level)),
                            finding.name),
                finding.says, text_columns());
    }
    const bool failed = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.level == Level::fail;
    });
    return failed ? exit_error : exit_ok;
}

}  // namespace

void add_doctor_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<DoctorOptions>();
    CLI::App* command =
        program.add_subcommand("doctor", "Is this machine ready, and what is missing?");
    command->group("Upkeep");
    command->add_flag("--json", options->json, "Print JSON: [{\"check\",\"level\",\"says\"}]");
    add_database_option(*command, context);
    command->footer(
        "Exit code 1 when something keeps everything from running.\n"
        "Examples:\n"
        "  assay doctor\n"
        "  assay doctor --json");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_doctor(context, *options); };
    });
}

}  // namespace assay::cli
