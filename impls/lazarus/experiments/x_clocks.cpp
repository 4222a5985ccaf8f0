// Paced and simulated, side by side: one training of fig9 under both clocks in one sample, and by
// how much the simulation is off.
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/model_loads.hpp"
#include "impls/lazarus/live_support.hpp"
#include "impls/lazarus/spot/fig9_course.hpp"
#include "suite/scenario/spot_axes.hpp"

#ifdef ASSAY_LAZARUS_LIVE
#include "impls/lazarus/tensor_functions.hpp"
#endif

namespace assay::lazarus {
namespace {

void run(const SampleSpec& spec, Recorder& recorder) {
    const SampleSpec whole = with_every_axis(spec);
#ifdef ASSAY_LAZARUS_LIVE
    tensor_functions().run_x_clocks(whole, nodes_of(whole), routing_source(spec),
                                    live_training_text(), recorder);
#else
    (void)recorder;
    live_training_text();  // throws: says what the build lacks
#endif
}

}  // namespace

Experiment x_clocks() {
    Experiment e = fig9();
    e.id = "lazarus/x_clocks";
    e.title = "A spot training under two clocks: paced processes and virtual time";
    e.source = "our own addition";
    e.says =
        "The training of lazarus/fig9, once on paced processes and once simulated, from the same "
        "controller, cost model, trace and seed. The simulation computes nothing and takes a "
        "moment; what it reports otherwise than the processes do is its error, and is stored. The "
        "two differ where real machinery has an order that the simulation does not: paced "
        "processes regroup at once and wait for the modelled time afterwards, simulated ones are "
        "in the middle of regrouping when the next node dies.";
    const auto metric = [](std::string name, std::string unit, std::string says) {
        return MetricSpec{std::move(name), std::move(unit), std::move(says),
                          Direction::none, false,           {}};
    };
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
        metric("samples_off", "fraction", "samples_total, simulated over paced, less one"),
        {"simulation_off",
         "fraction",
         "how far the simulation is from the processes, whichever way: |samples_off|",
         Direction::lower,
         false,
         {}},
        metric("step_off", "fraction",
               "the median step with all nodes, simulated over paced, less one"),
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
    toy.axes["model"] = {"gpt-s"};
    toy.axes["relaunch_s"] = {std::int64_t{60}};
    e.figure = {Figure::Kind::bars,
                "samples_total",
                "clock",
                {"model", "relaunch_s"},
                "clock",
                "samples kept",
                false};
    e.run = run;
    return e;
}

}  // namespace assay::lazarus
