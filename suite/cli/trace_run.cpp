#include "suite/cli/trace_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "suite/cli/narrowing.hpp"
#include "suite/cli/shell_quoting.hpp"
#include "suite/experiment/error.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {
namespace {

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
        else if (axis.name == "floor" && choice.mapping == NodeMapping::delta_clamped)
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
