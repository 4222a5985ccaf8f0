// Fig. 9: training on spot instances. Ten workers, really killed and started again as the trace
// says, each of their operations held to the time that the paper's cluster would take for it.
#include "impls/lazarus/experiments/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "impls/lazarus/cost/modelled_model.hpp"
#include "impls/lazarus/experiments/model_loads.hpp"
#include "impls/lazarus/experiments/trainings/fig9.hpp"
#include "impls/lazarus/policy/rivals/systems.hpp"
#include "impls/lazarus/recorded_decisions.hpp"
#include "impls/lazarus/spot/fig9_course.hpp"
#include "suite/base/error.hpp"
#include "suite/drive/simgrid/flow_network.hpp"
#include "suite/drive/simgrid/simgrid_time.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/cost_model.hpp"

namespace assay::lazarus {
namespace {

// What is kept at the ends of what is not published.
const std::vector<std::string> at_ends = {"samples_total", "restarts", "share", "overhead"};

// What is exchanged shares links, as SimGrid simulates them.
SimulatedCourse simulate_flows(const ModelledTraining& training, const AssumedValues& values,
                               int nodes, Recorder& recorder) {
    const std::string& cluster = training.modelling.cluster;
    const auto flows =
        std::make_shared<drive::RankFlows>(Topology(costs_with(cluster, values).cluster()), nodes);
    const auto network = std::make_shared<drive::FlowNetwork>(flows);
    drive::SimGridTime time(flows);
    auto course = simulate_training(training, costs_with(cluster, values, network), time, recorder);
    Fig9Found(recorder).flows_over_closed_form(1 + network->difference().overall());
    return course;
}

SimulatedCourse simulate_closed(const ModelledTraining& training, const AssumedValues& values,
                                Recorder& recorder) {
    drive::EventQueue time;
    const CostModel costs = costs_with(training.modelling.cluster, values);
    return simulate_training(training, costs, time, recorder);
}

void simulate(const Fig9& named, Recorder& recorder) {
    Fig9 fig9 = named;
    train_on(nodes_of(fig9.spot, fig9.seed), fig9);
    fig9.real_layers = fig9.routed_layers();
    auto modelled = modelled_training(fig9);
    modelled.faults = fig9.faults;
    // At profile paper there are too many steps to keep every decision of; a replay makes them
    // again.
    modelled.keep_decisions = fig9.profile != Profile::paper;
    const RoutingReplay keeps_the_trace_in_memory(modelled.routing);
    const auto names = fig9.with_ends ? at_ends : std::vector<std::string>{};
    simulate_with_ends(fig9, names, recorder, [&](const AssumedValues& values, Recorder& to) {
        auto with_values = modelled;
        with_values.modelling = modelling_with(modelled.modelling, values);
        const auto course = fig9.network == Exchanges::flows
                                ? simulate_flows(with_values, values, fig9.spot.nodes, to)
                                : simulate_closed(with_values, values, to);
        if (with_values.keep_decisions)
            store_decisions(to, with_values.controller, course.decisions);
        if (!course.ok) throw SampleError(SampleStatus::failed, course.why);
        record_course(course, fig9, with_values.modelling, to);
    });
}

void run(const Fig9& named, Recorder& recorder) {
    if (named.is_simulated()) return simulate(named, recorder);
    Fig9 fig9 = named;
    fig9.corpus = tensors::training_text();
    train_on(nodes_of(fig9.spot, fig9.seed), fig9);
    train_fig9(fig9, recorder);
}

nlohmann::json calibration(const Fig9& fig9) {
    const auto nodes = nodes_of(fig9.spot, fig9.seed);
    nlohmann::json taken{{"initial_workers", nodes.initial_workers},
                         {"faults", assay::to_string(nodes.faults)}};
    const AssumedValues values = fig9.assumed_values();
    if (fig9.provenance != Provenance::measured)
        taken["costs"] = costs_with(fig9.cluster, values).to_json();
    if (fig9.profile == Profile::paper && fig9.with_ends) taken["ends"] = ranges_to_json(values);
    if (fig9.network == Exchanges::flows)
        taken["network"] = fmt::format("flows: {} messages of a rank at once",
                                       drive::FlowSettings().messages_at_once);
    return taken;
}

Experiment described() {
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
    e.variants = names_of_systems();
    e.metrics = declared<CourseFound>();
    for (MetricSpec& one : metrics_at_ends(e.metrics, at_ends)) e.metrics.push_back(std::move(one));
    for (MetricSpec& one : declared<Fig9Found>()) e.metrics.push_back(std::move(one));
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
    return e;
}

}  // namespace

Axes<Fig9> fig9_axes() {
    Axes<Fig9> axes;
    axes.part(training_axes());
    axes.part(spot_axes(), &Fig9::spot);
    axes.part(modelling_axes("lazarus-testbed"));
    axes.axis("slots", &Fig9::slots,
              "replica slots per node and layer (of systems in fixed groups: experts per node, "
              "whatever this says); without -a: 6",
              between(1, 64));
    axes.axis("placement", &Fig9::placement,
              "of lazarus and lazarus_joint: mro, or mro_guarded, repaired where mro is not "
              "optimal; without -a: mro",
              {PlacementPolicy::mro, PlacementPolicy::mro_guarded});
    axes.part(overlap_axis());
    axes.axis("compression", &Fig9::compression,
              "measured: seconds of the trace that pass in one second; without -a: 60",
              between(1, 100'000));
    axes.axis("network", &Fig9::network,
              "simulated: what exchanges cost, in closed form, or as flows that share links "
              "(SimGrid); without -a: closed");
    axes.part(profile_input_axes());
    axes.given(&Fig9::provenance, &SampleSpec::provenance);
    axes.given(&Fig9::scratch, &SampleSpec::scratch);
    // Experiments made of this one (fig11) have no claims, so no ends.
    axes.given(&Fig9::with_ends,
               [](const SampleSpec& spec) { return spec.experiment == "lazarus/fig9"; });
    return axes;
}

void check_fig9(const Fig9& fig9) {
    const ModelledModel model = modelled_model(fig9.model);
    if (fig9.spot.nodes * fig9.slots < model.experts)
        throw UserError(fmt::format(
            "{} nodes with {} slots each cannot hold the {} experts of {}; raise nodes or slots",
            fig9.spot.nodes, fig9.slots, model.experts, model.name));
    if (!fig9.is_simulated()) {
        if (fig9.network == Exchanges::flows)
            throw UserError("axis network: flows are simulated; add --mode simulated");
        for (const auto& [name, value] : fig9.inputs)
            if (value)
                throw UserError(
                    fmt::format("axis {}: of simulated trainings; add --mode simulated", name));
    }
    nodes_of(fig9.spot, fig9.seed);
}

std::optional<std::string> fig9_lacks(const Fig9& fig9) {
    if (fig9.network == Exchanges::flows)
        if (auto lacks = drive::flow_engine_lacks()) return lacks;
    if (!fig9.is_simulated()) {
        if (auto lacks = tensors_lack(competing_system(fig9.system))) return lacks;
        if (auto lacks = train_fig9.lacks()) return lacks;
    }
    return missing_trace(fig9.trace);
}

// The availability trace is part of the calibration: it is the faults.
std::vector<Input> fig9_inputs(const Fig9& fig9) {
    std::vector<Input> files = trace_inputs(fig9.trace);
    if (fig9.is_simulated()) return files;
    for (Input& text : train_fig9.inputs()) files.push_back(std::move(text));
    return files;
}

void train_on(const MappedTrace& nodes, Fig9& fig9) {
    fig9.workers = nodes.initial_workers;
    fig9.faults = nodes.faults;
    fig9.routing = routing_source(fig9.trace);
    fig9.duration_s = 60.0 * double(fig9.spot.minutes);
}

Experiment fig9() {
    Declaration<Fig9> fig9(described());
    fig9.part(fig9_axes());
    fig9.check(check_fig9);
    fig9.unsupported(fig9_lacks);
    fig9.inputs(fig9_inputs);
    fig9.calibration(calibration);
    return fig9.runs(run);
}

}  // namespace assay::lazarus
