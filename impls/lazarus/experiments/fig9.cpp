// Fig. 9: training on spot instances. Ten workers, really killed and started again as the trace
// says, each of their operations held to the time that the paper's cluster would take for it.
#include "impls/lazarus/experiments/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "impls/lazarus/cost/modelled_model.hpp"
#include "impls/lazarus/experiments/model_loads.hpp"
#include "impls/lazarus/live_support.hpp"
#include "impls/lazarus/policy/rivals/systems.hpp"
#include "impls/lazarus/recorded_decisions.hpp"
#include "impls/lazarus/spot/fig9_course.hpp"
#include "suite/base/error.hpp"
#include "suite/drive/simgrid/flow_network.hpp"
#include "suite/drive/simgrid/simgrid_time.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/availability_trace.hpp"
#include "suite/scenario/cost_model.hpp"

#ifdef ASSAY_LAZARUS_LIVE
#include "impls/lazarus/tensor_functions.hpp"
#endif

namespace assay::lazarus {
namespace {

constexpr std::int64_t paper_slots = 6;  // section 6.1
constexpr int real_layers = 4;           // SpotTraining::real_layers

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
    check_routing_file(spec, real_layers, model.experts);
    integer_axis(spec, "relaunch_s", 0, 100000);
    integer_axis(spec, "compression", 1, 100000);
    if (const auto network = text(spec, "network"); network != "closed" && network != "flows")
        throw UserError(fmt::format("axis network: '{}'; known are closed and flows", network));
    else if (network == "flows" && !is_simulated(spec))
        throw UserError("axis network: flows are simulated; add --mode simulated");
    if (const double overlap = number_axis(spec, "overlap"); !(overlap >= 0 && overlap <= 1))
        throw UserError(fmt::format(
            "axis overlap: {} is no share; 0: nothing overlaps, 1: all that can", overlap));
    const auto per_step = integer_axis(spec, "modelled_steps", 1, 50);
    if (50 % per_step != 0 || 200 % per_step != 0)
        throw UserError("axis modelled_steps must divide 50 and 200: 1, 2, 5, 10, 25 or 50");
    cluster_profile(text(spec, "cluster"));
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
        if (auto lacks = live_training_lacks()) return lacks;
    }
    return missing_trace(spec);
}

// The availability trace is part of the calibration: it is the faults.
std::vector<Input> inputs(const SampleSpec& spec) {
    std::vector<Input> files = trace_inputs(spec);
    if (is_simulated(spec)) return files;
    for (Input& text : live_training_inputs()) files.push_back(std::move(text));
    return files;
}

// What is exchanged shares links, as SimGrid simulates them.
SimulatedCourse simulate_flows(const ModelledTraining& training, int nodes, Recorder& recorder) {
    const auto cluster = cluster_profile(training.modelling.cluster);
    const auto flows = std::make_shared<drive::RankFlows>(Topology(cluster), nodes);
    const auto network = std::make_shared<drive::FlowNetwork>(flows);
    drive::SimGridTime time(flows);
    auto course = simulate_training(training, CostModel(cluster, network), time, recorder);
    recorder.metric("flows_over_closed_form", 1 + network->difference().overall());
    return course;
}

void simulate(const SampleSpec& spec, Recorder& recorder) {
    const auto nodes = nodes_of(spec);
    const auto training = spot_training_of(spec, nodes.initial_workers, routing_source(spec));
    auto modelled = modelled_training(training);
    modelled.faults = nodes.faults;
    const auto course =
        is_of_flows(spec)
            ? simulate_flows(modelled, static_cast<int>(integer_axis(spec, "nodes")), recorder)
            : simulate_training(modelled, recorder);
    store_decisions(recorder, modelled.controller, course.decisions);
    if (!course.ok) throw SampleError(SampleStatus::failed, course.why);
    record_course(course, training, modelled.modelling, recorder);
}

void run(const SampleSpec& spec, Recorder& recorder) {
    if (is_simulated(spec)) return simulate(with_every_axis(spec), recorder);
#ifdef ASSAY_LAZARUS_LIVE
    tensor_functions().run_fig9(with_every_axis(spec), nodes_of(spec), routing_source(spec),
                                live_training_text(), recorder);
#else
    (void)spec;
    (void)recorder;
    live_training_text();  // throws: says what the build lacks
#endif
}

nlohmann::json calibration(const SampleSpec& spec) {
    const auto nodes = nodes_of(spec);
    nlohmann::json taken{{"initial_workers", nodes.initial_workers},
                         {"faults", assay::to_string(nodes.faults)}};
    if (spec.provenance != Provenance::measured)
        taken["costs"] = CostModel(cluster_profile(text(spec, "cluster"))).to_json();
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
        {"model", "the modelled model (Table 1)", {"gpt-s", "gpt-m", "gpt-l"}, false},
        {"relaunch_s",
         "seconds to launch a job anew, without loading; not published, hence a range",
         {std::int64_t{60}, std::int64_t{300}},
         true},
        {"trace",
         "routing trace that the gates follow: synthetic, smartmoe, or a CSV file "
         "iteration,layer,e0,e1,…",
         {"synthetic", "smartmoe"},
         true},
        {"spot", "availability trace: an id of datasets/traces or a file", {"p3-80min"}, true},
        {"mapping",
         "how the trace's nodes become ours: min, delta_clamped, tracked, scaled",
         {"delta_clamped"},
         true},
        {"nodes", "workers at most", {std::int64_t{10}}, true},
        {"floor", "delta_clamped: workers at least", {std::int64_t{3}}, true},
        {"minutes", "of the trace", {std::int64_t{80}}, true},
        {"modelled_steps",
         "modelled steps that one real step stands for (measured: for itself)",
         {std::int64_t{50}, std::int64_t{10}},
         true},
        {"cluster",
         "cluster profile: an id of datasets/clusters or a file",
         {"lazarus-testbed"},
         true},
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
        {"overlap",
         "share of the gradient sums that the backward pass hides, of what it could: 0 to 1; not "
         "published, hence a parameter; without -a: 0, nothing overlaps",
         {0.0, 1.0},
         true},
        {"compression",
         "measured: seconds of the trace that pass in one second; without -a: 60",
         {std::int64_t{60}},
         true},
        {"network",
         "simulated: what exchanges cost, in closed form, or as flows that share links (SimGrid); "
         "without -a: closed",
         {"closed", "flows"},
         false}};
    e.variants = names_of_systems();
    e.metrics = {
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
        metric("restart_min", "min", "minute at which a restart from a checkpoint began",
               Direction::none, {"event"}),
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
                {"overlap", {}},
                {"compression", {}},
                {"network", {}}};
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
    e.profiles = {toy, small};
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
