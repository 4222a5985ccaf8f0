// assay calibrate: machine measures this one and keeps the result as a device profile; fit
// (calibrate_fit.cpp) and what systems say of their cost models.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/cli/upkeep/machine_profiles.hpp"
#include "suite/data/catalog.hpp"
#include "suite/report/text/text_table.hpp"
#include "suite/runner/machine_lock.hpp"
#include "suite/scenario/device_profile.hpp"

namespace assay::cli {
namespace {

struct CalibrateOptions {
    bool quick = false;
    bool no_lock = false;
    bool json = false;
};

/// A quiet machine stays below.
constexpr double busy_load = 0.5;

/// Before anything is measured: the result must find a place.
void make_writable(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0)
        error = std::error_code(errno, std::generic_category());
    if (error)
        throw UserError(
            fmt::format("the profiles cannot be written to {}: {}; set ASSAY_DATA to a "
                        "folder that can be written",
                        folder.string(), error.message()));
}

nlohmann::json readings_json(const std::vector<NamedReading>& readings) {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& [name, unit, reading] : readings)
        rows.push_back({{"name", name},
                        {"unit", unit},
                        {"median", reading.median()},
                        {"values", reading.values},
                        {"how", reading.how}});
    return rows;
}

template <class Profile>
void add_rows(report::Grid& grid, const Profile& profile,
              std::span<const ProfileField<Profile>> fields,
              const std::vector<NamedReading>& readings) {
    for (const auto& field : fields) {
        const Sourced& number = profile.*field.number;
        std::string spread = "-";
        for (const NamedReading& each : readings)
            if (each.name == field.key)
                spread = fmt::format("{} to {}", report::number(each.reading.least()),
                                     report::number(each.reading.most()));
        grid.push_back({field.key, report::number(number.value), *field.unit ? field.unit : "share",
                        number.kind, spread});
    }
}

std::string table(const MachineProfiles& machine) {
    report::Grid grid{{"number", "value", "unit", "kind", "least to most"}};
    add_rows(grid, machine.device, device_fields(), machine.readings);
    add_rows(grid, machine.cluster, cluster_fields(), machine.readings);
    return report::text_table(grid, text_columns());
}

std::string today() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

int run_machine(const Context& context, const CalibrateOptions& options) {
    const std::filesystem::path device_file = this_machine_device_file();
    const std::filesystem::path cluster_file = this_machine_cluster_file();
    make_writable(device_file.parent_path());
    make_writable(cluster_file.parent_path());
    std::optional<runner::MachineLock> lock;
    if (!options.no_lock) lock.emplace(runner::MachineLock::default_path(), context.command_line);
    const auto effort = options.quick ? measure::ProbeEffort::quick() : measure::ProbeEffort{};
    const MachineProfiles machine = measure_machine(
        effort, data::folder(), today(), [](const std::string& what, int done, int all) {
            std::cerr << fmt::format("measuring {} ({} of {})", what, done + 1, all) << std::endl;
        });
    if (machine.load_1m > busy_load)
        std::cerr << fmt::format(
                         "the load average was {:.1f} before: other programs were running, "
                         "which makes the numbers low; measure again when it is quiet",
                         machine.load_1m)
                  << std::endl;
    write_output(device_file, to_toml(machine.device));
    write_output(cluster_file, to_toml(machine.cluster));
    if (options.json) {
        print_json(
            {{"device", to_json(machine.device)},
             {"cluster", to_json(machine.cluster)},
             {"readings", readings_json(machine.readings)},
             {"load", machine.load_1m},
             {"files", {{"device", device_file.string()}, {"cluster", cluster_file.string()}}}});
        return exit_ok;
    }
    std::cout << machine.device.says << '\n' << table(machine);
    for (const NamedReading& each : machine.readings)
        print_line(std::cout, fmt::format("{}: {}", each.name, each.reading.how));
    std::cout << fmt::format("written to {}\n       and {}\n", device_file.string(),
                             cluster_file.string());
    return exit_ok;
}

}  // namespace

void add_calibrate_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<CalibrateOptions>();
    CLI::App* command = program.add_subcommand(
        "calibrate", "Measure this machine, fit and look at what cost models take for granted");
    command->require_subcommand(1);
    command->footer(
        "Examples:\n"
        "  assay calibrate machine\n"
        "  assay calibrate machine --quick --json\n"
        "  assay calibrate fit --help");
    CLI::App* machine = command->add_subcommand(
        "machine", "Processors, memory, loopback, storage: the profile `this-machine`");
    machine->add_flag("--quick", options->quick, "Fewer and shorter repetitions: less steady");
    machine->add_flag("--no-lock", options->no_lock, "Measure beside another measured run");
    machine->add_flag("--json", options->json,
                      "Print JSON: {\"device\",\"cluster\",\"readings\",\"load\",\"files\"}");
    machine->footer(
        "Matrix products are made by our own blocked fp32 kernel on all processors; nothing is\n"
        "measured of GPUs. The profiles lie in devices/ and clusters/ of the data folder.\n"
        "Examples:\n"
        "  assay calibrate machine\n"
        "  assay calibrate machine --quick --json");
    machine->callback([options, &context] {
        context.action = [options, &context] { return run_machine(context, *options); };
    });
    add_calibrate_fit_command(*command, context);
    for (const System& system : context.registry.systems()) {
        if (!system.costs) continue;
        CLI::App* costs = command->add_subcommand(system.id, system.title);
        system.costs->options(*costs);
        costs->callback([&system, &context] {
            context.action = [&system] {
                system.costs->columns = prose_columns();
                return system.costs->run();
            };
        });
    }
    command->group("Upkeep");  // last: its subcommands would inherit it
}

}  // namespace assay::cli
