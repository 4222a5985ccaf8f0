#include "suite/cli/run/trace_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/cli/selection.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/availability_drawing.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {
namespace {

std::string time_text(double seconds) {
    if (seconds < 120) return fmt::format("{:.4g} s", seconds);
    if (seconds <= 3 * 3600) return fmt::format("{:.4g} min", seconds / 60);
    return fmt::format("{:.4g} h", seconds / 3600);
}

std::string row(const char* name, const std::string& value) {
    return fmt::format("  {:<28}{}\n", name, value);
}

std::string statistics_text(const AvailabilityTrace& trace) {
    const TraceStatistics found = trace_statistics(trace);
    std::string out =
        row("nodes at the start", std::to_string(found.initial)) +
        row("most, fewest", fmt::format("{}, {}", found.most, found.fewest)) +
        row("mean over time", fmt::format("{:.2f}", found.mean)) +
        row("lost, added afterwards", fmt::format("{}, {}", found.losses, found.additions));
    if (found.initial == 0 && !trace.events.empty())
        out += row("nobody is there until", time_text(trace.events.front().t_s));
    if (found.losses == 0) return out;
    out += row("largest loss at one moment",
               fmt::format("{} at {}", found.largest_loss, time_text(found.largest_loss_at_s)));
    out +=
        row("largest share lost at once", fmt::format("{:.2f} %", found.largest_loss_share * 100));
    if (found.mean_between_losses_s > 0)
        out += row("mean between losses", time_text(found.mean_between_losses_s));
    return out;
}

std::string run_text(const TraceRun& run, std::size_t width) {
    if (run.command.empty())
        return '\n' + hanging("To train under these faults: ", run.says, width);
    return fmt::format(
        "\n{}  {}\n",
        hanging("",
                fmt::format("To train under these faults (first with --dry-run: how long it "
                            "takes){}",
                            run.says.empty() ? "" : "; " + run.says),
                width),
        run.command);
}

std::string mapped_text(const TraceView& view, std::size_t width) {
    const MappingChoice& choice = *view.choice;
    const std::string floor = choice.mapping == NodeMapping::delta_clamped
                                  ? fmt::format(", at least {}", choice.floor)
                                  : "";
    std::string out =
        '\n' + hanging("",
                       fmt::format("Mapped ({}) onto at most {} workers{}, seed {}",
                                   to_string(choice.mapping), choice.nodes, floor, choice.seed),
                       width);
    out += report::draw_counts(report::curve_of(*view.mapped, view.trace.duration_s), width);
    const auto& faults = view.mapped->faults.faults;
    if (faults.empty())
        return out + '\n' +
               hanging("",
                       fmt::format("{} workers, and no faults: {}", view.mapped->initial_workers,
                                   trace_statistics(view.trace).losses == 0
                                       ? "the trace has no loss"
                                       : "the mapping hides every loss"),
                       width);
    out += '\n' + hanging("",
                          fmt::format("Faults for {} workers at the start, t in seconds on the "
                                      "trace",
                                      view.mapped->initial_workers),
                          width);
    for (const Fault& fault : faults) out += fmt::format("  {}\n", to_string(fault));
    return out + run_text(view.run, width);
}

const Experiment* experiment_with_traces(const Registry& registry) {
    for (const System& system : registry.systems())
        for (const Experiment& experiment : system.experiments)
            if (experiment.axis("spot") && experiment.axis("mapping") &&
                experiment.plan(Profile::toy))
                return &experiment;
    return nullptr;
}

const std::vector<Value>& sweep_of(const Experiment& experiment, const Axis& axis) {
    const ProfilePlan& profile = *experiment.plan(Profile::toy);
    const auto own = profile.axes.find(axis.name);
    return own == profile.axes.end() ? axis.values : own->second;
}

/// Whether a number among them is larger.
bool exceeds(const std::vector<Value>& values, int bound) {
    return std::any_of(values.begin(), values.end(), [&](const Value& value) {
        const auto* number = std::get_if<std::int64_t>(&value);
        return number && *number > bound;
    });
}

/// What stands behind each -a, in the order of the axes.
std::vector<std::string> narrowing_to(const Experiment& experiment, const TraceView& view,
                                      const std::string& name, long minutes) {
    const MappingChoice& choice = *view.choice;
    std::vector<std::string> words;
    for (const Axis& axis : experiment.axes) {
        std::string value;
        if (axis.name == "spot")
            value = name;
        else if (axis.name == "mapping")
            value = to_string(choice.mapping);
        else if (axis.name == "nodes")
            value = std::to_string(choice.nodes);
        else if (axis.name == "floor" && (choice.mapping == NodeMapping::delta_clamped ||
                                          exceeds(sweep_of(experiment, axis), choice.nodes)))
            value = std::to_string(choice.floor);
        else if (axis.name == "minutes")
            value = std::to_string(minutes);
        else if (const auto& sweep = sweep_of(experiment, axis); sweep.size() > 1)
            value = assay::to_string(sweep.front());
        if (!value.empty()) words.push_back(axis.name + '=' + value);
    }
    return words;
}

}  // namespace

nlohmann::json to_json(const TraceView& view) {
    const TraceStatistics found = trace_statistics(view.trace);
    const report::CountCurve curve = report::curve_of(view.trace);
    nlohmann::json out = {{"id", view.trace.id},
                          {"says", view.trace.says},
                          {"duration_s", view.trace.duration_s},
                          {"t_s", curve.t_s},
                          {"alive", curve.alive},
                          {"mapped", nullptr},
                          {"statistics",
                           {{"initial", found.initial},
                            {"most", found.most},
                            {"fewest", found.fewest},
                            {"mean", found.mean},
                            {"losses", found.losses},
                            {"additions", found.additions},
                            {"largest_loss", found.largest_loss},
                            {"largest_loss_share", found.largest_loss_share},
                            {"largest_loss_at_s", found.largest_loss_at_s},
                            {"mean_between_losses_s", found.mean_between_losses_s}}}};
    if (view.mapped)
        out["mapped"] = {{"mapping", to_string(view.choice->mapping)},
                         {"nodes", view.choice->nodes},
                         {"floor", view.choice->floor},
                         {"seed", view.choice->seed},
                         {"initial_workers", view.mapped->initial_workers},
                         {"t_s", view.mapped->t_s},
                         {"alive", view.mapped->alive},
                         {"faults", to_string(view.mapped->faults)},
                         {"run", view.run.command},
                         {"run_says", view.run.says}};
    return out;
}

std::string to_text(const TraceView& view, std::size_t width) {
    std::string out =
        hanging("", fmt::format("{}, {}", view.trace.id, time_text(view.trace.duration_s)), width) +
        hanging("", view.trace.says, width) + '\n';
    out += report::draw_counts(report::curve_of(view.trace), width);
    out += '\n' + statistics_text(view.trace);
    if (view.mapped) return out + mapped_text(view, width);
    return out + '\n' +
           hanging(
               "",
               "With --map delta_clamped --nodes 10 added (or min, tracked, scaled) this becomes "
               "faults for ten workers, and a command that trains under them.",
               width);
}

TraceRun run_of_trace(const Registry& registry, const TraceView& view, const std::string& name) {
    const Experiment* experiment = experiment_with_traces(registry);
    if (!experiment) return {"", "no experiment of this build takes a trace"};
    if (name.empty())
        return {"", fmt::format("this trace is in no file yet: with --out FILE.toml added, this "
                                "command writes it and prints the `assay run {}` that takes it",
                                experiment->id)};
    if (name.find(',') != std::string::npos)
        return {"", fmt::format("`assay run {} -a spot=…` takes no file with a comma in its name",
                                experiment->id)};
    const auto minutes = static_cast<long>(std::floor(view.trace.duration_s / 60 + 1e-9));
    if (minutes < 1)
        return {"", fmt::format("{} takes whole minutes, and the trace is shorter than one",
                                experiment->id)};
    TraceRun run;
    runner::Request request;
    request.patterns = {experiment->id};
    request.seed = view.choice->seed;
    run.command = "assay run " + experiment->id;
    try {
        for (const std::string& word : narrowing_to(*experiment, view, name, minutes)) {
            add_axis(word, request.axes);
            run.command += " -a " + shell_quoted(word);
        }
        if (request.seed != runner::Request{}.seed)
            run.command += fmt::format(" --seed {}", request.seed);
        runner::make_plan(registry, request);
    } catch (const UserError& error) {
        return {"", fmt::format("{} does not take it: {}", experiment->id, error.what())};
    }
    const double left_s = view.trace.duration_s - 60.0 * static_cast<double>(minutes);
    if (left_s > 0.5)
        run.says = fmt::format("whole minutes only: the last {:.0f} s are left out", left_s);
    return run;
}

}  // namespace assay::cli
