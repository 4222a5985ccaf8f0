// assay calibrate fit: what operations reach on a device, fitted to stored samples.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/cli/upkeep/operation_samples.hpp"
#include "suite/report/text/table.hpp"

namespace assay::cli {
namespace {

struct FitOptions {
    std::string experiment, session, variant;
    std::string device = "this-machine";
    OperationMetrics metrics;
    std::optional<double> launch_s;
    std::string id;      ///< of the profile that is written; empty: the device's with "-fitted"
    std::string output;  ///< empty: none is written
    bool json = false;
};

struct FittedOperation {
    std::string name;
    std::vector<TimedWork> timed;
    OperationFit fit;
};

std::string percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

/// What the profile says of where the numbers are from.
OperationProfile profile_of(const FittedOperation& one, const OperationSamples& samples,
                            const FitOptions& options) {
    const std::string source = fmt::format(
        "assay calibrate fit {}, {}: least squares over {} durations{}; residuals {:.1f} % at the "
        "median, {} at worst",
        options.experiment, store::now_utc().substr(0, 10), one.timed.size(),
        samples.host.empty() ? "" : " on " + samples.host, 100 * one.fit.median(),
        percent(one.fit.worst()));
    OperationProfile profile;
    profile.efficiency = {one.fit.efficiency, "fitted", source, samples.sessions};
    const bool launches = std::any_of(one.timed.begin(), one.timed.end(),
                                      [](const TimedWork& t) { return t.work.kernels > 0; });
    if (one.fit.launch_fitted)
        profile.launch_s = {one.fit.launch_s, "fitted", source, samples.sessions};
    else if (options.launch_s)
        profile.launch_s = {one.fit.launch_s, "assumed", "given to assay calibrate fit"};
    else if (launches)
        profile.launch_s = {0, "fitted", source + "; it came out below 0", samples.sessions};
    else
        profile.launch_s = {0, "assumed", "the samples do not tell how many kernels they launched"};
    return profile;
}

std::string launch_text(const FittedOperation& one, const OperationProfile& profile) {
    const std::string value = report::number(profile.launch_s.value);
    if (one.fit.launch_fitted)
        return fmt::format("{} ± {}", value, report::number(one.fit.launch_error_s));
    return fmt::format("{} ({})", value, profile.launch_s.kind);
}

/// A duration of an operation, beside what the fit gives.
struct Residual {
    std::string operation;
    TimedWork timed;
    double share = 0;
};

report::Table<Residual> residual_table() {
    const auto as_percent = [](const nlohmann::json& share) { return percent(share); };
    return {
        {"", "operation", &Residual::operation},
        {"sample", "sample", [](const Residual& one) { return one.timed.origin; }},
        {"seconds", "measured s", [](const Residual& one) { return one.timed.seconds; }},
        {"", "modelled s", [](const Residual& one) { return one.timed.seconds * (1 + one.share); }},
        {"residual", "residual", &Residual::share, as_percent},
        {"flops", "", [](const Residual& one) { return one.timed.work.flops; }},
        {"bytes", "", [](const Residual& one) { return one.timed.work.bytes; }},
        {"kernels", "", [](const Residual& one) { return one.timed.work.kernels; }}};
}

std::vector<Residual> residuals_of(const FittedOperation& one) {
    std::vector<Residual> residuals;
    for (std::size_t i = 0; i < one.timed.size(); ++i)
        residuals.push_back({one.name, one.timed[i], one.fit.residuals[i]});
    return residuals;
}

report::Table<FittedOperation> fit_table(const DeviceProfile& device) {
    using One = FittedOperation;
    return {
        {"operation", "operation", &One::name},
        {"", "durations", [](const One& one) { return one.timed.size(); }},
        {"", "efficiency",
         [](const One& one) {
             return fmt::format("{:.3f} ± {:.3f}", one.fit.efficiency, one.fit.efficiency_error);
         }},
        {"", "launch_s",
         [&device](const One& one) { return launch_text(one, device.operations.at(one.name)); }},
        {"residual_median", "residual: median", [](const One& one) { return one.fit.median(); },
         [](const nlohmann::json& share) {
             return fmt::format("{:.1f} %", 100 * share.get<double>());
         }},
        {"residual_worst", "worst", [](const One& one) { return one.fit.worst(); },
         [](const nlohmann::json& share) { return percent(share); }},
        {"efficiency", "", [](const One& one) { return one.fit.efficiency; }},
        {"efficiency_error", "", [](const One& one) { return one.fit.efficiency_error; }},
        {"launch_s", "", [](const One& one) { return one.fit.launch_s; }},
        {"launch_error_s", "", [](const One& one) { return one.fit.launch_error_s; }},
        {"launch_fitted", "", [](const One& one) { return one.fit.launch_fitted; }},
        {"samples", "", [](const One& one) { return residual_table().values(residuals_of(one)); }}};
}

std::string text(const std::vector<FittedOperation>& fits, const DeviceProfile& device,
                 std::size_t columns) {
    std::vector<Residual> residuals;
    for (const FittedOperation& one : fits)
        for (Residual& residual : residuals_of(one)) residuals.push_back(std::move(residual));
    return "efficiency is the share of its roofline that an operation reaches; ±: standard "
           "errors\n" +
           report::text_table(fit_table(device).shown(fits), columns) + '\n' +
           report::text_table(residual_table().shown(residuals), columns);
}

struct Fits {
    std::vector<FittedOperation> found;
    std::vector<std::string> refused;  ///< sentences
};

/// What was found goes into `device` too. UserError where nothing was.
Fits fit_all(const OperationSamples& samples, DeviceProfile& device, const FitOptions& options) {
    Fits fits;
    for (const auto& [name, timed] : samples.timed) {
        try {
            fits.found.push_back(
                {name, timed, fit_operation(name, device, timed, options.launch_s)});
        } catch (const FitError& error) {
            fits.refused.emplace_back(error.what());
        }
    }
    if (fits.found.empty())
        throw UserError(fmt::format("nothing can be fitted: {}", fmt::join(fits.refused, "; ")));
    for (const FittedOperation& one : fits.found)
        device.operations[one.name] = profile_of(one, samples, options);
    return fits;
}

int run_fit(const Context& context, const FitOptions& options) {
    const bool prints_profile = is_standard_output(options.output);
    expect_one_on_standard_output({{"--json", options.json}, {"--output", prints_profile}});
    check_output("-o", options.output);
    DeviceProfile device = device_profile(options.device);
    const store::Store store = open_existing(context);
    const OperationSamples samples =
        operation_samples(store, options.experiment,
                          options.session.empty() ? "" : store.resolve_session(options.session),
                          options.variant, options.metrics);
    Fits fits = fit_all(samples, device, options);
    device.id = options.id.empty() ? device.id + "-fitted" : options.id;
    if (!options.output.empty()) {
        const std::string toml = to_toml(device);
        read_device_profile(toml, "--id");  // refuses an id that no profile may have
        write_output(options.output, toml);
    }
    if (options.json) {
        nlohmann::json file;
        if (!options.output.empty()) file = options.output;
        print_json({{"device", to_json(device)},
                    {"sessions", samples.sessions},
                    {"operations", fit_table(device).values(fits.found)},
                    {"refused", fits.refused},
                    {"file", file}});
        return exit_ok;
    }
    std::ostream& out = prints_profile ? std::cerr : std::cout;
    out << text(fits.found, device, text_columns());
    for (const std::string& why : fits.refused) out << "not fitted: " << why << '\n';
    if (options.output.empty())
        out << "nothing is written; -o FILE writes the profile\n";
    else if (!prints_profile)
        out << fmt::format("written to {}\n", options.output);
    return exit_ok;
}

}  // namespace

void add_calibrate_fit_command(CLI::App& calibrate, Context& context) {
    auto options = std::make_shared<FitOptions>();
    CLI::App* fit = calibrate.add_subcommand(
        "fit", "What operations reach on a device, fitted to stored samples: efficiency, launches");
    fit->add_option("experiment", options->experiment, "Whose samples: lazarus/x_operations")
        ->required()
        ->type_name("EXPERIMENT");
    fit->add_option("--device", options->device,
                    "The profile whose peaks count: an id of datasets/devices, or a file")
        ->capture_default_str()
        ->type_name("NAME");
    fit->add_option("--session", options->session,
                    "Samples of this one; else the newest of each case")
        ->type_name("ID");
    fit->add_option("--variant", options->variant, "Samples of this one alone")->type_name("NAME");
    auto& metrics = options->metrics;
    fit->add_option("--seconds", metrics.seconds, "The metric that holds durations")
        ->capture_default_str()
        ->type_name("METRIC");
    fit->add_option("--flops", metrics.flops, "The metric of floating-point operations")
        ->capture_default_str()
        ->type_name("METRIC");
    fit->add_option("--bytes", metrics.bytes, "The metric of bytes to and from memory")
        ->capture_default_str()
        ->type_name("METRIC");
    fit->add_option("--kernels", metrics.kernels, "The metric of launches")
        ->capture_default_str()
        ->type_name("METRIC");
    fit->add_option("--operation", metrics.operation,
                    "The name of the operation, where metrics have no label 'operation'")
        ->type_name("NAME");
    fit->add_option("--launch", options->launch_s, "Seconds per launch, given instead of fitted")
        ->check(CLI::NonNegativeNumber)
        ->type_name("SECONDS");
    fit->add_option("--id", options->id, "Of the profile; else that of the device with -fitted")
        ->type_name("ID");
    fit->add_option("-o,--output", options->output, "Write the profile, ready to be named")
        ->type_name("FILE");
    fit->add_flag("--json", options->json,
                  "Print JSON: {\"device\",\"sessions\",\"operations\",\"refused\",\"file\"}");
    add_database_option(*fit, context);
    fit->footer(
        "Least squares of relative residuals, for each operation on its own: seconds = max(FLOP /\n"
        "peak, bytes / peak) / efficiency + kernels x launch. Fitted numbers carry the sessions\n"
        "that they are from; they reproduce nothing. Where an experiment has durations and work\n"
        "under other names, --seconds, --flops, --bytes, --kernels and --operation say which.\n"
        "Examples:\n"
        "  assay calibrate fit lazarus/x_operations\n"
        "  assay calibrate fit lazarus/x_operations --launch 0 -o fitted.toml");
    fit->callback([options, &context] {
        context.action = [options, &context] { return run_fit(context, *options); };
    });
}

}  // namespace assay::cli
