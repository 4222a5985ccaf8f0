#include "impls/lazarus/experiments/trainings/training_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "impls/lazarus/cost/modelled_model.hpp"
#include "impls/lazarus/experiments/model_loads.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

// The value of an axis that says nothing: a word, since only the profile knows the number.
std::string of_the_profile(const AssumedInput& input) {
    return fmt::format("{} of the profile", input.name);
}

std::string text(const SampleSpec& spec, const char* axis) {
    return assay::to_string(spec.axes.at(axis));
}

const AssumedInput& overlap() { return assumed_inputs().back(); }

MetricSpec metric(std::string name, std::string unit, std::string says, Direction better,
                  std::vector<std::string> labels = {}) {
    return {
        std::move(name), std::move(unit), std::move(says), better, false, std::move(labels), {}};
}

// What is recorded at a corner: only some metrics, under another name and with the corner's labels.
class AtEnds final : public Recorder {
  public:
    AtEnds(Recorder& recorder, const std::vector<std::string>& names, Labels ends)
        : recorder_(recorder), names_(names), ends_(std::move(ends)) {}

    void metric(std::string_view name, double value, const Labels& labels) override {
        if (std::find(names_.begin(), names_.end(), name) == names_.end()) return;
        Labels all = ends_;
        all.insert(labels.begin(), labels.end());
        recorder_.metric(std::string(name) + "_at_ends", value, all);
    }
    void event(std::string_view, double, int, const nlohmann::json&) override {}
    void time_series(std::string_view, std::string_view, std::span<const double>,
                     std::span<const double>, const Labels&) override {}
    void append_series(std::string_view, std::string_view, std::span<const double>,
                       std::span<const double>, const Labels&) override {}
    void table(std::string_view, std::span<const TableColumn>,
               const std::vector<std::vector<Value>>&) override {}
    void artifact(std::string_view, std::string_view, std::string_view) override {}
    void progress(double, std::string_view) override {}

  private:
    Recorder& recorder_;
    const std::vector<std::string>& names_;
    Labels ends_;
};

}  // namespace

// ---- axes --------------------------------------------------------------------------------------

Axis model_axis() {
    return {"model", "the modelled model (Table 1)", {"gpt-s", "gpt-m", "gpt-l"}, false};
}

Axis relaunch_axis() {
    return {"relaunch_s",
            "seconds to launch a job anew, without loading; not published, hence a range",
            {std::int64_t{60}, std::int64_t{300}},
            true};
}

Axis trace_axis() {
    return {"trace",
            "routing trace that the gates follow: synthetic, smartmoe, or a CSV file "
            "iteration,layer,e0,e1,…",
            {"synthetic", "smartmoe"},
            true};
}

Axis modelled_steps_axis() {
    return {"modelled_steps",
            "modelled steps that one real step stands for (measured: for itself)",
            {std::int64_t{50}, std::int64_t{10}},
            true};
}

Axis cluster_axis(std::string id) {
    return {
        "cluster", "cluster profile: an id of datasets/clusters or a file", {std::move(id)}, true};
}

std::vector<Axis> profile_input_axes() {
    std::vector<Axis> axes;
    for (const AssumedInput& input : assumed_inputs())
        if (input.name != std::string_view(overlap().name))
            axes.push_back(
                {input.name,
                 fmt::format("simulated: {}; without -a: as the profiles say", input.says),
                 {of_the_profile(input), input.low, input.high},
                 true});
    return axes;
}

Axis overlap_axis() {
    return {overlap().name,
            "share of the gradient sums that the backward pass hides, of what it could: 0 to 1; "
            "not published, hence a parameter; without -a: 0, nothing overlaps",
            {0.0, 1.0},
            true};
}

void leave_unnamed(ProfilePlan& plan) {
    for (const AssumedInput& input : assumed_inputs()) plan.axes[input.name] = {};
}

void check_training_axes(const SampleSpec& spec) {
    const ModelledModel model = modelled_model(text(spec, "model"));
    check_routing_file(spec, routed_layers(spec), model.experts);
    integer_axis(spec, "relaunch_s", 0, 100000);
    const auto per_step = integer_axis(spec, "modelled_steps", 1, 50);
    if (50 % per_step != 0 || 200 % per_step != 0)
        throw UserError("axis modelled_steps must divide 50 and 200: 1, 2, 5, 10, 25 or 50");
    if (const double share = number_axis(spec, "overlap"); !(share >= 0 && share <= 1))
        throw UserError(fmt::format(
            "axis overlap: {} is no share; 0: nothing overlaps, 1: all that can", share));
    costs_with(text(spec, "cluster"), assumed_values(spec));
}

int routed_layers(const SampleSpec& spec) { return spec.profile == Profile::paper ? 12 : 4; }

AssumedValues assumed_values(const SampleSpec& spec) {
    AssumedValues values;
    for (const AssumedInput& input : assumed_inputs()) {
        const auto named = spec.axes.find(input.name);
        if (named == spec.axes.end() || named->second == Value(of_the_profile(input))) continue;
        values[input.name] = number_axis(spec, input.name);
    }
    return values;
}

// ---- metrics -----------------------------------------------------------------------------------

std::vector<MetricSpec> training_metrics() {
    return {
        metric("samples_total", "count",
               "sequences trained in steps that were not lost again, modelled", Direction::higher),
        metric("samples_lost", "count", "sequences of committed steps that a restart undid",
               Direction::lower),
        metric("restarts", "count", "returns to a checkpoint after nodes were lost",
               Direction::lower),
        metric(
            "restarts_by_reason", "count",
            "no_replica_left: an expert had no live holder; too_few_survivors: fewer nodes were "
            "left than can hold every expert, training waited for more; every_loss: the system "
            "restarts whenever a training node is lost (ds); "
            "planned: for nodes that join, no step is lost and `restarts` does not count it (ds)",
            Direction::none, {"reason"}),
        metric("waits", "count", "times training stood still until more nodes came",
               Direction::lower),
        metric("restart_min", "min",
               "minute at which a restart from a checkpoint began, by draw of the victims (the "
               "seed); of a run without a restart the minute at which it ended",
               Direction::none, {"event", "draw"}),
        metric("deaths", "count", "workers killed while they trained or waited", Direction::none),
        metric("mean_nodes_used", "count", "workers that train, over time", Direction::higher),
        metric("share", "fraction",
               "of the time: compute, checkpoint, restart, reconfiguration, lost (undone and "
               "interrupted steps, waiting for nodes)",
               Direction::none, {"part"}),
        metric("overhead", "fraction",
               "of the time, as Fig. 11 adds them up: checkpoint_and_restart, "
               "reconfiguration_and_rebalance",
               Direction::lower, {"kind"}),
        metric("step_s", "s", "median modelled step with all nodes", Direction::lower),
    };
}

std::vector<MetricSpec> metrics_at_ends(const std::vector<MetricSpec>& metrics,
                                        const std::vector<std::string>& names) {
    std::vector<MetricSpec> found;
    for (const std::string& name : names) {
        MetricSpec one = *std::find_if(metrics.begin(), metrics.end(),
                                       [&](const MetricSpec& m) { return m.name == name; });
        one.name += "_at_ends";
        one.says = fmt::format(
            "profile paper: {} at both ends of what is not published and the case does not name",
            name);
        for (const AssumedInput& input : assumed_inputs()) one.labels.emplace_back(input.name);
        one.only = {Provenance::simulated};
        found.push_back(std::move(one));
    }
    return found;
}

void simulate_with_ends(const SampleSpec& spec, const std::vector<std::string>& names,
                        Recorder& recorder, const SimulateWith& simulate) {
    const AssumedValues fixed = assumed_values(spec);
    simulate(fixed, recorder);
    if (spec.profile != Profile::paper || names.empty()) return;
    const auto corners = corners_of_ranges(fixed);
    for (std::size_t i = 0; i < corners.size(); ++i) {
        Labels ends;
        for (const auto& [name, value] : corners[i])
            if (!fixed.contains(name)) ends[name] = value;
        AtEnds at_ends(recorder, names, std::move(ends));
        simulate(corners[i], at_ends);
        recorder.progress(double(i + 1) / double(corners.size()),
                          fmt::format("end {} of {}", i + 1, corners.size()));
    }
}

}  // namespace assay::lazarus
