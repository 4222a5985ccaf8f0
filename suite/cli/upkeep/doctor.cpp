// assay doctor: is this machine ready, and what is missing?
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/base/datasets.hpp"
#include "suite/base/error.hpp"
#include "suite/base/quantity_text.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/cli/upkeep/gpu_experiments.hpp"
#include "suite/cluster/nccl/library.hpp"
#include "suite/data/check.hpp"
#include "suite/measure/build_info.hpp"
#include "suite/measure/environment.hpp"
#include "suite/measure/machine_findings.hpp"
#include "suite/runner/machine_lock.hpp"
#include "suite/store/store.hpp"

namespace assay::cli {
namespace {

using measure::Finding;
using measure::Level;

/// Less free than this, and a long run may not end.
constexpr double little_disk_bytes = 1e9;
/// For how long other processes are watched.
constexpr double look_s = 0.3;

/// Runs one look; what throws is a finding, not an end.
template <typename Look>
void look(std::vector<Finding>& findings, const std::string& name, Look&& find) {
    try {
        find();
    } catch (const std::exception& error) {
        findings.push_back({Level::fail, name, error.what()});
    }
}

Finding database(const Context& context) {
    const std::filesystem::path file = context.database_path();
    if (!std::filesystem::exists(file)) {
        if (const std::string trouble = trouble_beginning(context); !trouble.empty())
            return {Level::fail, "database", trouble};
        const std::filesystem::path folder = existing_folder(file);
        if (!std::filesystem::is_directory(folder))
            return {Level::fail, "database",
                    fmt::format("{} cannot be made: {} is no folder; name another with --db or "
                                "ASSAY_DB",
                                file.string(), folder.string())};
        if (::access(folder.c_str(), W_OK | X_OK) != 0)
            return {Level::fail, "database",
                    fmt::format("{} cannot be made: {} may not be written to; name another with "
                                "--db or ASSAY_DB",
                                file.string(), folder.string())};
        return {Level::ok, "database",
                fmt::format("none yet; the first run makes {}", file.string())};
    }
    // Opening for writing is exactly what a run would do first.
    const store::Store store = store::Store::open(file, store::Access::write);
    const std::size_t sessions = store.sessions().size();
    return {Level::ok, "database",
            fmt::format("{} can be written, {} session{}", file.string(), sessions,
                        sessions == 1 ? "" : "s")};
}

Finding disk(const std::filesystem::path& file) {
    const auto space = std::filesystem::space(existing_folder(file));
    const double bytes = static_cast<double>(space.available);
    return {bytes < little_disk_bytes ? Level::warn : Level::ok, "disk",
            fmt::format("{} free where the database is", bytes_text(bytes))};
}

void machine(std::vector<Finding>& findings, const measure::Environment& environment) {
    findings.push_back(
        {environment.usable_cores < 2 ? Level::warn : Level::ok, "cores",
         fmt::format(
             "{} usable of {}{}, {}", environment.usable_cores, environment.cores,
             environment.cpu_quota ? fmt::format(", quota {:g}", *environment.cpu_quota) : "",
             environment.cpu_model)});
    for (Finding& finding : measure::machine_findings(look_s))
        findings.push_back(std::move(finding));
}

Finding gpus(const measure::Gpus& found) {
    if (found.devices.empty())
        return {found.driver.empty() && found.reason.empty() ? Level::ok : Level::warn, "gpu",
                found.reason.empty() ? "none; everything for the CPU works without" : found.reason};
    std::vector<std::string> names;
    for (const measure::Gpu& gpu : found.devices) names.push_back(gpu.name);
    return {Level::ok, "gpu", fmt::format("{}; driver {}", fmt::join(names, ", "), found.driver)};
}

/// Without it nothing is lost where there are no GPUs to connect.
Finding nccl(const measure::Gpus& gpus) {
    const cluster::nccl::Found found = cluster::nccl::find_library();
    return {found.library || gpus.devices.empty() ? Level::ok : Level::warn, "nccl",
            (found.library ? "" : "none, without which GPUs cannot exchange data: ") +
                cluster::nccl::describe(found)};
}

void build(std::vector<Finding>& findings) {
    const measure::BuildInfo info = measure::build_info();
    for (const measure::BuildPart& part : info.parts) {
        const bool absent = part.state == measure::BuildPart::State::absent;
        findings.push_back({absent ? Level::warn : Level::ok, part.name, part.says});
    }
}

void data_sets(std::vector<Finding>& findings, const Registry& registry) {
    for (const data::Check& check : data::check_all(registry.data_formats())) {
        const bool here = check.state == data::State::ok;
        findings.push_back({here ? Level::ok : Level::warn, "data " + check.id,
                            here ? check.file.string()
                                 : fmt::format("{}{}{}; `assay data list` says how to get it",
                                               data::to_string(check.state),
                                               check.says.empty() ? "" : ": ", check.says)});
    }
}

Finding lock() {
    const auto holder = runner::MachineLock::holder(runner::MachineLock::default_path());
    if (holder)
        return {Level::warn, "lock",
                fmt::format("another measured run has this machine: {}", *holder)};
    return {Level::ok, "lock", "no other measured run"};
}

std::vector<Finding> diagnose(const Context& context) {
    std::vector<Finding> findings;
    const auto file = context.database_path();
    look(findings, "database", [&] { findings.push_back(database(context)); });
    look(findings, "disk", [&] { findings.push_back(disk(file)); });
    const measure::Environment environment = measure::read_environment();
    machine(findings, environment);
    findings.push_back(gpus(environment.gpus));
    findings.push_back(nccl(environment.gpus));
    look(findings, "gpu experiments", [&] {
        if (auto found = gpu_experiments(context.registry, !environment.gpus.devices.empty()))
            findings.push_back(*std::move(found));
    });
    build(findings);
    look(findings, "datasets", [&] {
        if (!context.lacks.empty()) throw UserError(context.lacks);
        findings.push_back({Level::ok, "datasets", datasets_dir().string()});
    });
    look(findings, "data", [&] { data_sets(findings, context.registry); });
    look(findings, "lock", [&] { findings.push_back(lock()); });
    return findings;
}

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
