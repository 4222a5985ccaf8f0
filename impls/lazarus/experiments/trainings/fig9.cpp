// Fig. 9: training on spot instances. Ten workers, really killed and started again as the trace
// says, each of their operations held to the time that the paper's cluster would take for it.
#include "impls/lazarus/experiments/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "impls/lazarus/cost/modelled_model.hpp"
#include "impls/lazarus/experiments/model_loads.hpp"
#include "impls/lazarus/experiments/trainings/training_experiment.hpp"
#include "impls/lazarus/policy/rivals/systems.hpp"
#include "impls/lazarus/recorded_decisions.hpp"
#include "impls/lazarus/spot/fig9_course.hpp"
#include "impls/lazarus/tensor_functions.hpp"
#include "impls/tensors/needs.hpp"
#include "suite/base/error.hpp"
#include "suite/drive/simgrid/flow_network.hpp"
#include "suite/drive/simgrid/simgrid_time.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/cost_model.hpp"
#include "suite/scenario/traces/spot_axes.hpp"

namespace assay::lazarus {
namespace {

constexpr std::int64_t paper_slots = 6;  // section 6.1
// What is kept at the ends of what is not published.
const std::vector<std::string> at_ends = {"samples_total", "restarts", "share", "overhead"};

std::string text(const SampleSpec& spec, const char* axis) {
    return assay::to_string(spec.axes.at(axis));
}

bool is_simulated(const SampleSpec& spec) { return spec.provenance == Provenance::simulated; }

void validate_fig9(const SampleSpec& named) {
    const SampleSpec spec = with_every_axis(named);
    const ModelledModel model = modelled_model(text(spec, "model"));
    const auto slots = integer_axis(spec, "slots", 1, 64);
    if (const auto nodes = integer_axis(spec, "nodes", 1, 64); nodes * slots < model.experts)
        throw UserError(fmt::format(
            "{} nodes with {} slots each cannot hold the {} experts of {}; raise nodes or slots",
            nodes, slots, model.experts, model.name));
    check_training_axes(spec);
    integer_axis(spec, "compression", 1, 100000);
    if (const auto network = text(spec, "network"); network != "closed" && network != "flows")
        throw UserError(fmt::format("axis network: '{}'; known are closed and flows", network));
    else if (network == "flows" && !is_simulated(spec))
        throw UserError("axis network: flows are simulated; add --mode simulated");
    if (!is_simulated(spec))
        for (const auto& [name, value] : assumed_values(spec))
            if (name != "overlap")
                throw UserError(
                    fmt::format("axis {}: of simulated trainings; add --mode simulated", name));
    nodes_of(spec);
}

bool is_of_flows(const SampleSpec& spec) {
    return text(with_every_axis(spec), "network") == "flows";
}

std::optional<std::string> unsupported(const SampleSpec& spec) {
    if (is_of_flows(spec))
        if (auto lacks = drive::flow_engine_lacks()) return lacks;
    if (!is_simulated(spec)) {
        if (auto lacks = tensors_lack(competing_system(spec.variant))) return lacks;
        if (auto lacks = tensors::lacks(tensors::Needs::text)) return lacks;
    }
    return missing_trace(spec);
}

// The availability trace is part of the calibration: it is the faults.
std::vector<Input> inputs(const SampleSpec& spec) {
    std::vector<Input> files = trace_inputs(spec);
    if (is_simulated(spec)) return files;
    for (Input& text : tensors::inputs_of(tensors::Needs::text)) files.push_back(std::move(text));
    return files;
}

// What is exchanged shares links, as SimGrid simulates them.
SimulatedCourse simulate_flows(const ModelledTraining& training, const AssumedValues& values,
                               int nodes, Recorder& recorder) {
    const std::string& cluster = training.modelling.cluster;
    const auto flows =
        std::make_shared<drive::RankFlows>(Topology(costs_with(cluster, values).cluster()), nodes);
    const auto network = std::make_shared<drive::FlowNetwork>(flows);
    drive::SimGridTime time(flows);
    auto course = simulate_training(training, costs_with(cluster, values, network), time, recorder);
    recorder.metric("flows_over_closed_form", 1 + network->difference().overall());
    return course;
}

SimulatedCourse simulate_closed(const ModelledTraining& training, const AssumedValues& values,
                                Recorder& recorder) {
    drive::EventQueue time;
    const CostModel costs = costs_with(training.modelling.cluster, values);
    return simulate_training(training, costs, time, recorder);
}

// `spec` names every axis, `named` those of the case.
void simulate(const SampleSpec& spec, const SampleSpec& named, Recorder& recorder) {
    const auto nodes = nodes_of(spec);
    auto training = spot_training_of(spec, nodes.initial_workers, routing_source(spec));
    training.real_layers = routed_layers(spec);
    auto modelled = modelled_training(training);
    modelled.faults = nodes.faults;
    // At profile paper there are too many steps to keep every decision of; a replay makes them
    // again.
    modelled.keep_decisions = spec.profile != Profile::paper;
    const RoutingReplay keeps_the_trace_in_memory(modelled.routing);
    // Experiments made of this one (fig11) have no claims, so no ends.
    const bool with_ends = spec.experiment == "lazarus/fig9";
    const auto names = with_ends ? at_ends : std::vector<std::string>{};
    simulate_with_ends(named, names, recorder, [&](const AssumedValues& values, Recorder& to) {
        auto with_values = modelled;
        with_values.modelling = modelling_with(modelled.modelling, values);
        const auto course = is_of_flows(spec)
                                ? simulate_flows(with_values, values,
                                                 static_cast<int>(integer_axis(spec, "nodes")), to)
                                : simulate_closed(with_values, values, to);
        if (with_values.keep_decisions)
            store_decisions(to, with_values.controller, course.decisions);
        if (!course.ok) throw SampleError(SampleStatus::failed, course.why);
        record_course(course, training, with_values.modelling, to);
    });
}

void run(const SampleSpec& spec, Recorder& recorder) {
    if (is_simulated(spec)) return simulate(with_every_axis(spec), spec, recorder);
    train_in_tensors([&](const TensorFunctions& tensors, const std::filesystem::path& text_file) {
        tensors.run_fig9(with_every_axis(spec), nodes_of(spec), routing_source(spec), text_file,
                         recorder);
    });
}

nlohmann::json calibration(const SampleSpec& spec) {
    const auto nodes = nodes_of(spec);
    nlohmann::json taken{{"initial_workers", nodes.initial_workers},
                         {"faults", assay::to_string(nodes.faults)}};
    if (spec.provenance != Provenance::measured)
        taken["costs"] = costs_with(text(spec, "cluster"), assumed_values(spec)).to_json();
    if (spec.profile == Profile::paper && spec.experiment == "lazarus/fig9")
        taken["ends"] = ranges_to_json(assumed_values(spec));
    if (is_of_flows(spec))
        taken["network"] = fmt::format("flows: {} messages of a rank at once",
                                       drive::FlowSettings().messages_at_once);
    return taken;
}

MetricSpec metric(std::string name, std::string unit, std::string says, Direction better,
                  std::vector<std::string> labels = {}) {
    return {std::move(name), std::move(unit), std::move(says), better, false, std::move(labels)};
}

}  // namespace

SampleSpec with_every_axis(SampleSpec spec) {
    static const Experiment experiment = fig9();
    spec.axes = with_unnamed_values(experiment, spec);
    return spec;
}

Experiment fig9() {
    Experiment e;
    e.id = "lazarus/fig9";
    e.title = "Training on spot instances: samples per second that no restart undid";
    e.source = "arXiv 2407.04656v2, section 6.4, Fig. 9";
    e.says =
        "The first 80 minutes of a public spot trace, mapped from 32 nodes to ten, are replayed on "
        "ten worker processes: they are really killed and started, expert states really travel, "
        "and a small mixture-of-experts model really trains. Each operation is held to the time "
        "that the paper's model would take on the paper's cluster by a cost model (device data "
        "sheet and assumed efficiencies: nothing is fitted to the paper's results); gates follow a "
        "routing trace, as in the paper. One real step stands for several modelled ones; a loss "
        "discards it whole, where the paper loses one modelled step at most. The rivals are other "
        "policies of the same code, of which --variant can name more than the paper's: " +
        systems_in_words() +
        ". The time to "
        "relaunch a job is not published: it is an axis. The trace's mapping to ten nodes is not "
        "published either: delta_clamped loses four nodes at minute 34, as the paper says. The "
        "curve shows work that counts: steps that a restart undid are left out where they were "
        "made, so its sum is samples_total. On a trace of your own: -a spot=FILE, and `assay plan "
        "trace FILE --map delta_clamped` prints the whole command. Simulated, the same policies "
        "run "
        "in virtual time on the cost model alone: no processes, no tensors, a moment per case. "
        "Measured, the processes train as fast as this machine lets them and the trace runs "
        "`compression` times as fast: nothing is modelled, and relaunch_s says nothing.";
    e.axes = {
        model_axis(),
        relaunch_axis(),
        trace_axis(),
        modelled_steps_axis(),
        cluster_axis("lazarus-testbed"),
        {"slots",
         "replica slots per node and layer (of systems in fixed groups: experts per node, whatever "
         "this says); without -a: 6",
         {paper_slots},
         true},
        {"placement",
         "of lazarus and lazarus_joint: mro, or mro_guarded, repaired where mro is not optimal; "
         "without -a: "
         "mro",
         {"mro", "mro_guarded"},
         false},
        overlap_axis(),
        {"compression",
         "measured: seconds of the trace that pass in one second; without -a: 60",
         {std::int64_t{60}},
         true},
        {"network",
         "simulated: what exchanges cost, in closed form, or as flows that share links (SimGrid); "
         "without -a: closed",
         {"closed", "flows"},
         false}};
    const auto spot = spot_axes();
    e.axes.insert(e.axes.begin() + 3, spot.begin(), spot.end());
    for (Axis& axis : profile_input_axes()) e.axes.push_back(std::move(axis));
    e.variants = names_of_systems();
    e.metrics = training_metrics();
    for (MetricSpec& one : metrics_at_ends(e.metrics, at_ends)) e.metrics.push_back(std::move(one));
    const std::vector<MetricSpec> of_processes = {
        {"state_equal_to_oracle",
         "bool",
         "1: weights and moments equal bit for bit the fault-free replay of the membership",
         Direction::higher,
         true,
         {}},
        metric("overrun", "fraction", "by how much real work was late, of the modelled time",
               Direction::lower),
        metric("speed", "ratio", "scenario seconds per real second, median", Direction::none),
        metric("flows_over_closed_form", "ratio",
               "network flows: seconds of all exchanges simulated as flows, over those that the "
               "closed form gives",
               Direction::none),
        metric("real_detect_s", "s", "real time from kills to the supervisor knowing, median",
               Direction::lower),
        metric("real_regroup_s", "s", "real time of a regroup with its transfers, median",
               Direction::lower),
    };
    e.metrics.insert(e.metrics.end(), of_processes.begin(), of_processes.end());
    for (MetricSpec& one : e.metrics) {
        if (one.name == "state_equal_to_oracle" || one.name.starts_with("real_"))
            one.only = {Provenance::emulated, Provenance::measured};
        if (one.name == "flows_over_closed_form") one.only = {Provenance::simulated};
        if (one.name == "overrun" || one.name == "speed") one.only = {Provenance::emulated};
    }
    ProfilePlan toy;
    toy.provenances = {Provenance::emulated, Provenance::simulated, Provenance::measured};
    // The paper's, and those of its section 6.3; --variant runs the others.
    toy.variants = {"lazarus", "spread", "compact", "ds_ft", "ds"};
    // Empty: series name these only where they differ from the paper's settings, or from what was
    // assumed before there was the axis.
    toy.axes = {{"trace", {"synthetic"}},
                {"modelled_steps", {std::int64_t{50}}},
                {"slots", {}},
                {"placement", {}},
                {"compression", {}},
                {"network", {}}};
    leave_unnamed(toy);
    toy.seconds_per_sample = 35;
    toy.bytes_per_sample = 150e3;
    toy.timeout_s = 900;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    small.axes["trace"] = {"smartmoe"};
    small.axes["modelled_steps"] = {std::int64_t{10}};
    small.seconds_per_sample = 150;
    small.bytes_per_sample = 400e3;
    toy.seconds_of = {{Provenance::simulated, 0.1}, {Provenance::measured, 110}};
    small.seconds_of = {{Provenance::simulated, 0.3}, {Provenance::measured, 110}};
    small.timeout_s = 1800;
    ProfilePlan paper = small;
    paper.profile = Profile::paper;
    paper.provenances = {Provenance::simulated};
    paper.axes["mapping"] = {"delta_clamped", "min", "tracked", "scaled"};
    paper.variants = {"lazarus", "lazarus_joint", "ds_ft", "ds"};
    paper.rounds = 5;
    paper.seconds_per_sample = 10;
    paper.bytes_per_sample = 300e3;
    paper.seconds_of.clear();
    e.profiles = {toy, small, paper};
    e.figure = {Figure::Kind::timeline, "throughput_kept",         "t_s", {"model", "relaunch_s"},
                "time on the trace",    "samples kept per second", false};
    e.validate = validate_fig9;
    e.unsupported = unsupported;
    e.inputs = inputs;
    e.calibration = calibration;
    e.run = run;
    return e;
}

}  // namespace assay::lazarus
