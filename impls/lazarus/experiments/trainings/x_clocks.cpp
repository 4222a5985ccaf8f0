// Paced and simulated, side by side: one training of fig9 under both clocks in one sample, and by
// how much the simulation is off.
#include <nlohmann/json.hpp>

#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/trainings/fig9.hpp"
#include "impls/lazarus/spot/controlled_failures.hpp"
#include "suite/scenario/cost_model.hpp"

namespace assay::lazarus {
namespace {

// Fig. 6's failures.
constexpr ControlledFailures every_five_minutes;

// At the length that the faults ask for.
XClocks whole(XClocks clocks) {
    if (clocks.kind == ClockFaults::controlled)
        clocks.spot.minutes = std::int64_t(every_five_minutes.duration_s() / 60);
    return clocks;
}

MappedTrace nodes_for(const XClocks& clocks) {
    if (clocks.kind == ClockFaults::spot) return nodes_of(clocks.spot, clocks.seed);
    return {.initial_workers = every_five_minutes.nodes,
            .faults = random_victims(every_five_minutes, clocks.seed),
            .t_s = {},
            .alive = {}};
}

void run(const XClocks& named, Recorder& recorder) {
    XClocks clocks = whole(named);
    train_on(nodes_for(clocks), clocks);
    train_x_clocks(clocks, recorder);
}

nlohmann::json calibration(const XClocks& clocks) {
    const auto nodes = nodes_for(whole(clocks));
    return {{"initial_workers", nodes.initial_workers},
            {"faults", assay::to_string(nodes.faults)},
            {"costs", CostModel(cluster_profile(clocks.cluster)).to_json()}};
}

Experiment described() {
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
    e.metrics = declared<XClocksFound>();
    e.profiles.resize(1);
    ProfilePlan& toy = e.profiles.front();
    toy.provenances = {Provenance::emulated};
    toy.variants = {"lazarus", "ds_ft", "ds"};
    toy.axes["model"] = {"gpt-s", "gpt-l"};
    e.figure = {Figure::Kind::bars,        "error", "of", {"faults", "model", "relaunch_s"}, "",
                "error of the simulation", false};
    return e;
}

}  // namespace

Experiment x_clocks() {
    Declaration<XClocks> clocks(described());
    clocks.part(fig9_axes());
    clocks.axis("faults", &XClocks::kind,
                "spot: the availability trace; controlled: a node lost every 5 minutes");
    clocks.given_to_run(&XClocks::corpus, tensors::training_text);
    clocks.check([](const XClocks& named) { check_fig9(whole(named)); });
    clocks.unsupported(fig9_lacks);
    clocks.inputs(fig9_inputs);
    clocks.calibration(calibration);
    return clocks.runs(run);
}

}  // namespace assay::lazarus
