// assay plan trace: draws an availability trace, its statistics, and what becomes of it when it is
// mapped onto a few workers.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/one_of.hpp"
#include "suite/cli/run/trace_view.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/experiment/value.hpp"
#include "suite/report/text/availability_drawing.hpp"

namespace assay::cli {
namespace {

struct PlanTraceOptions {
    std::string trace, process, mapping, seed = "1", out;
    TraceProcess generated;
    int floor = 1;
    std::optional<double> from_min, to_min;
    bool nodes_given = false, json = false;
};

AvailabilityTrace chosen_trace(const PlanTraceOptions& options) {
    if (!options.trace.empty() && !options.process.empty())
        throw UserError("give a trace (a file or an id) or --generate, not both");
    if (options.trace.empty() && options.process.empty())
        throw UserError("give a trace (a file or an id), or --generate poisson|bursts|hourly");
    if (options.process.empty()) return availability_trace(options.trace);
    TraceProcess process = options.generated;
    process.kind = of_word<TraceProcess::Kind>(options.process).value();
    process.seed = parse_seed(options.seed);
    return generate_trace(process);
}

AvailabilityTrace chosen_part(const PlanTraceOptions& options) {
    AvailabilityTrace trace = chosen_trace(options);
    if (!options.from_min && !options.to_min) return trace;
    return segment(trace, options.from_min.value_or(0) * 60,
                   options.to_min ? *options.to_min * 60 : trace.duration_s);
}

void check_trace_file_name(const std::string& file) {
    if (std::filesystem::path(file).extension() != ".toml")
        throw UserError(fmt::format("--out {}: a trace is written as .toml", file));
}

/// Where what is shown can be read again; empty: in no file.
std::string name_of(const PlanTraceOptions& options) {
    if (!options.out.empty()) return options.out;
    return options.from_min.value_or(0) == 0 ? options.trace : "";
}

int plan_trace(const PlanTraceOptions& options, const Registry& registry) {
    if (!options.out.empty()) check_trace_file_name(options.out);
    if (options.nodes_given && options.mapping.empty() && options.process.empty())
        throw UserError(
            "--nodes says how many workers --map keeps, or how many nodes --generate "
            "has; give one of them");
    TraceView view;
    view.trace = chosen_part(options);
    if (!options.mapping.empty()) {
        const MappingChoice choice{of_word<NodeMapping>(options.mapping).value(),
                                   options.generated.nodes, options.floor,
                                   parse_seed(options.seed)};
        view.choice = choice;
        view.mapped =
            map_trace(view.trace, choice.mapping, choice.nodes, choice.floor, choice.seed);
    }
    if (!options.out.empty()) write_output(options.out, to_toml(view.trace));
    if (view.choice) view.run = run_of_trace(registry, view, name_of(options));
    if (options.json) {
        print_json(to_json(view));
        return exit_ok;
    }
    std::cout << to_text(view, drawing_width());
    if (!options.out.empty()) print_line(std::cout << '\n', "written to " + options.out);
    return exit_ok;
}

void add_source_options(CLI::App& command, PlanTraceOptions& options) {
    command
        .add_option("trace", options.trace,
                    "file (.csv Bamboo, .json SkyPilot, .toml ours) or id, for example p3-80min")
        ->type_name("FILE|ID");
    CLI::Option* generate =
        command
            .add_option("--generate", options.process, "draw a trace: poisson, bursts or hourly")
            ->check(one_of<TraceProcess::Kind>())
            ->type_name("PROCESS");
    command.add_option("--hours", options.generated.hours, "length of a drawn trace")
        ->capture_default_str()
        ->needs(generate)
        ->type_name("H");
    command
        .add_option("--loss-per-hour", options.generated.loss_per_hour,
                    fmt::format("rate (hourly: probability) at which a node is lost; bursts: rate "
                                "of bursts (unless given {}; bursts: {})",
                                usual_loss_per_hour(TraceProcess::Kind::poisson),
                                usual_loss_per_hour(TraceProcess::Kind::bursts)))
        ->needs(generate)
        ->type_name("P");
    command
        .add_option("--return-per-hour", options.generated.return_per_hour,
                    "rate (hourly: probability) at which a missing node comes back")
        ->capture_default_str()
        ->needs(generate)
        ->type_name("Q");
    command.add_option("--burst", options.generated.burst, "bursts: most nodes lost at once")
        ->capture_default_str()
        ->needs(generate)
        ->type_name("N");
    command.add_option("--from", options.from_min, "cut: first minute")->type_name("MINUTE");
    command.add_option("--to", options.to_min, "cut: last minute, included")->type_name("MINUTE");
    command.add_option("--out", options.out, "write the trace to this file")
        ->type_name("FILE.toml");
}

void add_mapping_options(CLI::App& command, PlanTraceOptions& options) {
    CLI::Option* map = command
                           .add_option("--map", options.mapping,
                                       "onto few workers: min, delta_clamped, tracked or scaled")
                           ->check(one_of<NodeMapping>())
                           ->type_name("HOW");
    command
        .add_option_function<int>(
            "--nodes",
            [&options](int nodes) {
                options.generated.nodes = nodes;
                options.nodes_given = true;
            },
            "workers at most (--map); nodes at the start and at most (--generate)")
        ->default_str(std::to_string(options.generated.nodes))
        ->type_name("N");
    command.add_option("--floor", options.floor, "delta_clamped: workers that stay in any case")
        ->capture_default_str()
        ->needs(map)
        ->type_name("F");
    command.add_option("--seed", options.seed, "who is lost, and the drawn trace")
        ->capture_default_str()
        ->type_name("N");
}

}  // namespace

void add_plan_trace_command(CLI::App& plan, Context& context) {
    auto options = std::make_shared<PlanTraceOptions>();
    CLI::App* command = plan.add_subcommand(
        "trace", "Nodes that come and go: a drawing, statistics, a fault plan for few workers");
    add_source_options(*command, *options);
    add_mapping_options(*command, *options);
    command->add_flag("--json", options->json, "print JSON");
    command->footer(
        "--map: papers leave open how a trace of many nodes becomes a few workers.\n"
        "  min            min(alive, N)\n"
        "  delta_clamped  every change, applied to a count kept within F and N\n"
        "  tracked        the first N names of the trace\n"
        "  scaled         alive · N / most, rounded\n"
        "With --map the output ends with the `assay run` that trains under these faults.\n"
        "Examples:\n"
        "  assay plan trace p3-80min --map delta_clamped --nodes 10 --floor 3\n"
        "  assay plan trace spot.csv --from 60 --to 180\n"
        "  assay plan trace --generate hourly --hours 12 --nodes 16 --loss-per-hour 0.05 \\\n"
        "      --return-per-hour 0.3 --seed 7 --out mine.toml");
    command->callback([options, &context] {
        context.action = [options, &context] { return plan_trace(*options, context.registry); };
    });
}

}  // namespace assay::cli
