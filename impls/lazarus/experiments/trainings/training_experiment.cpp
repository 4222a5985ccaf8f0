#include "impls/lazarus/experiments/trainings/training_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
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

const AssumedInput& overlap() { return assumed_inputs().back(); }

void check(const TrainingOnTheClock& training) {
    const ModelledModel model = modelled_model(training.model);
    check_routing_file(training.trace, training.routed_layers(), model.experts);
    if (50 % training.modelled_steps != 0 || 200 % training.modelled_steps != 0)
        throw UserError("axis modelled_steps must divide 50 and 200: 1, 2, 5, 10, 25 or 50");
    costs_with(training.cluster, training.assumed_values());
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

AssumedValues TrainingOnTheClock::assumed_values() const {
    AssumedValues values;
    for (const auto& [name, value] : inputs)
        if (value) values[name] = *value;
    if (overlap != 0) values[lazarus::overlap().name] = overlap;
    return values;
}

// ---- axes --------------------------------------------------------------------------------------

Axes<TrainingOnTheClock> training_axes() {
    using Training = TrainingOnTheClock;
    Axes<Training> axes;
    axes.axis("model", &Training::model, "the modelled model (Table 1)",
              {"gpt-s", "gpt-m", "gpt-l"});
    axes.axis("relaunch_s", &Training::relaunch_s,
              "seconds to launch a job anew, without loading; not published, hence a range",
              {60, 300}, between(0, 100'000));
    axes.axis("trace", &Training::trace,
              "routing trace that the gates follow: synthetic, smartmoe, or a CSV file "
              "iteration,layer,e0,e1,…",
              {"synthetic", "smartmoe"}, or_others);
    axes.given(&Training::system, &SampleSpec::variant);
    axes.given(&Training::seed, &SampleSpec::seed);
    axes.given(&Training::profile, &SampleSpec::profile);
    axes.check(check);
    return axes;
}

Axes<TrainingOnTheClock> modelling_axes(const std::string& id) {
    Axes<TrainingOnTheClock> axes;
    axes.axis("modelled_steps", &TrainingOnTheClock::modelled_steps,
              "modelled steps that one real step stands for (measured: for itself)", {50, 10},
              between(1, 50));
    axes.axis("cluster", &TrainingOnTheClock::cluster,
              "cluster profile: an id of datasets/clusters or a file", {id}, or_others);
    return axes;
}

Axes<TrainingOnTheClock> profile_input_axes() {
    Axes<TrainingOnTheClock> axes;
    for (const AssumedInput& input : assumed_inputs())
        if (input.name != std::string_view(overlap().name))
            axes.optional_axis(
                input.name,
                [name = std::string(input.name)](auto& training) -> auto& {
                    return training.inputs[name];
                },
                fmt::format("simulated: {}; without -a: as the profiles say", input.says),
                of_the_profile(input), {input.low, input.high}, or_others);
    return axes;
}

Axes<TrainingOnTheClock> overlap_axis() {
    Axes<TrainingOnTheClock> axes;
    axes.axis(overlap().name, &TrainingOnTheClock::overlap,
              "share of the gradient sums that the backward pass hides, of what it could: 0 to 1; "
              "not published, hence a parameter; without -a: 0, nothing overlaps",
              {0.0, 1.0}, between(0, 1));
    return axes;
}

void leave_unnamed(ProfilePlan& plan) {
    for (const AssumedInput& input : assumed_inputs()) plan.axes[input.name] = {};
}

// ---- at the ends -------------------------------------------------------------------------------

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

void simulate_with_ends(const TrainingOnTheClock& training, const std::vector<std::string>& names,
                        Recorder& recorder, const SimulateWith& simulate) {
    const AssumedValues fixed = training.assumed_values();
    simulate(fixed, recorder);
    if (training.profile != Profile::paper || names.empty()) return;
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
