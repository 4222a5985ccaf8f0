// Paced and simulated, side by side: one training of fig9 under both clocks in one sample, and by
// how much the simulation is off.
#include <nlohmann/json.hpp>

#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/model_loads.hpp"
#include "impls/lazarus/spot/controlled_failures.hpp"
#include "impls/lazarus/spot/fig9_course.hpp"
#include "impls/lazarus/tensor_functions.hpp"
#include "impls/tensors/needs.hpp"
#include "suite/scenario/cost_model.hpp"
#include "suite/scenario/traces/spot_axes.hpp"

namespace assay::lazarus {
namespace {

// Fig. 6's failures.
constexpr ControlledFailures every_five_minutes;

bool is_controlled(const SampleSpec& spec) {
    return assay::to_string(spec.axes.at("faults")) == "controlled";
}

// Every axis of fig9's, at the length that the faults ask for.
SampleSpec whole(const SampleSpec& named) {
    SampleSpec spec = with_every_axis(named);
    if (is_controlled(named))
        spec.axes["minutes"] = std::int64_t(every_five_minutes.duration_s() / 60);
    return spec;
}

MappedTrace nodes_for(const SampleSpec& spec) {
    if (!is_controlled(spec)) return nodes_of(spec);
    return {.initial_workers = every_five_minutes.nodes,
            .faults = random_victims(every_five_minutes, spec.seed),
            .t_s = {},
            .alive = {}};
}

void run(const SampleSpec& named, Recorder& recorder) {
    const SampleSpec spec = whole(named);
    train_in_tensors([&](const TensorFunctions& tensors, const std::filesystem::path& text_file) {
        tensors.run_x_clocks(spec, nodes_for(spec), routing_source(spec), text_file, recorder);
    });
}

}  // namespace

Experiment x_clocks() {
    Experiment e = fig9();
    e.id = "lazarus/x_clocks";
    e.title = "By how much virtual time is off: one training, paced and simulated";
    e.source = "our own addition";
    e.says =
        "A training under the spot trace of lazarus/fig9 or the failures of lazarus/fig6, once on "
        "paced processes and once simulated, from the same controller, cost model, faults and "
        "seed. The simulation computes nothing and takes a "
        "moment; what it reports otherwise than the processes do is its error, and is stored. The "
        "two differ where real machinery has an order that the simulation does not: paced "
        "processes regroup at once and wait for the modelled time afterwards, simulated ones are "
        "in the middle of regrouping when the next node dies.";
    const auto metric = [](std::string name, std::string unit, std::string says) {
        return MetricSpec{std::move(name), std::move(unit), std::move(says),
                          Direction::none, false,           {}};
    };
    e.axes.push_back({"faults",
                      "spot: the availability trace; controlled: a node lost every 5 minutes",
                      {"spot", "controlled"},
                      false});
    e.metrics = {
        {"samples_total",
         "count",
         "sequences trained in steps that were not lost again",
         Direction::none,
         false,
         {"clock"}},
        {"restarts",
         "count",
         "returns to a checkpoint after nodes were lost",
         Direction::none,
         false,
         {"clock"}},
        {"error",
         "fraction",
         "by how much the simulation is off, whichever way. Of samples_total, mean_nodes_used and "
         "step_s: of what the processes have. Of samples_lost: of their samples_total. Of "
         "restarts: of their restarts, or of 1. Of the shares of the time: of the time",
         Direction::lower,
         false,
         {"of"},
         {}},
        {"median_error", "fraction", "the median of these errors", Direction::lower, false, {}, {}},
        metric("speedup", "ratio", "real seconds of the paced training over the simulated one's"),
        {"decides_the_same_again",
         "bool",
         "1: told of the simulation's recorded events alone, the controller takes the same actions",
         Direction::higher,
         true,
         {}},
    };
    e.profiles.resize(1);
    ProfilePlan& toy = e.profiles.front();
    toy.provenances = {Provenance::emulated};
    toy.variants = {"lazarus", "ds_ft", "ds"};
    toy.axes["model"] = {"gpt-s", "gpt-l"};
    e.figure = {Figure::Kind::bars,        "error", "of", {"faults", "model", "relaunch_s"}, "",
                "error of the simulation", false};
    e.validate = [validate = e.validate](const SampleSpec& spec) { validate(whole(spec)); };
    e.calibration = [](const SampleSpec& spec) {
        const auto nodes = nodes_for(whole(spec));
        return nlohmann::json{
            {"initial_workers", nodes.initial_workers},
            {"faults", assay::to_string(nodes.faults)},
            {"costs",
             CostModel(cluster_profile(assay::to_string(spec.axes.at("cluster")))).to_json()}};
    };
    e.run = run;
    return e;
}

}  // namespace assay::lazarus
