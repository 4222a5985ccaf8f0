#include "tests/runner/versus/busy_system.hpp"

#include <time.h>

#include <chrono>

#include "suite/experiment/recorder.hpp"
#include "tests/runner/dummy_system.hpp"

namespace assay::testing {
namespace {

/// Computes for a while: seconds that a processor needs, not what a clock on the wall says, so that
/// tests see through what else the machine does; "slowed" takes a fifth more.
void spin(const SampleSpec& spec, Recorder& recorder) {
    const auto cpu_s = [] {
        timespec now{};
        ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    };
    const double ms = static_cast<double>(std::get<std::int64_t>(spec.axes.at("ms")));
    const double wanted_s = 1e-3 * ms * (spec.variant == "slowed" ? 1.2 : 1);
    const auto began = std::chrono::steady_clock::now();
    const double began_s = cpu_s();
    while (cpu_s() - began_s < wanted_s) {
    }
    recorder.metric("cpu_time", cpu_s() - began_s);
    recorder.metric(
        "wall_time",
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
}

Experiment make_spin() {
    Experiment experiment;
    experiment.id = "busy/spin";
    experiment.title = "Samples that compute";
    experiment.source = "none";
    experiment.says = "For the tests of adaptive rounds.";
    experiment.axes = {{"ms", "processor time", {std::int64_t{5}}, true}};
    experiment.variants = {"same", "again", "slowed"};
    experiment.metrics = {{"cpu_time", "s", "on the processor", Direction::lower, false, {}},
                          {"wall_time", "s", "on the wall", Direction::lower, false, {}}};
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.seconds_per_sample = 0.05;
    experiment.profiles = {toy};
    experiment.figure = {Figure::Kind::bars, "cpu_time", "ms", {}, "", "", false};
    experiment.run = spin;
    return experiment;
}

}  // namespace

Registry make_busy_registry() {
    Registry registry = make_dummy_registry();
    System system;
    system.id = "busy";
    system.title = "A system that computes";
    system.paper = "none";
    system.experiments = {make_spin()};
    registry.add(std::move(system));
    return registry;
}

}  // namespace assay::testing
