#include "suite/control/control_experiment.hpp"

#include <algorithm>

#include "suite/control/control_work.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/measure/environment.hpp"

namespace assay::control {
namespace {

/// A double holds whole numbers up to 2^53.
constexpr std::uint64_t checksum_mask = (1ULL << 50) - 1;

void run(const SampleSpec&, Recorder& recorder) {
    const Done by_kernel = processes();  // forks: before the threads
    const Done by_core = arithmetic();
    const Done by_all = memory(std::max(1, measure::count_usable_processors()));
    recorder.metric("arithmetic", by_core.seconds);
    recorder.metric("memory", by_all.seconds);
    recorder.metric("processes", by_kernel.seconds);
    const std::uint64_t sum = by_kernel.checksum + by_core.checksum + by_all.checksum;
    recorder.metric("checksum", static_cast<double>(sum & checksum_mask));
}

Experiment make_control() {
    Experiment experiment;
    experiment.id = "assay/control";
    experiment.title = "Control workload: how fast is this machine today?";
    experiment.source = "the suite's own";
    experiment.says =
        "A fixed amount of work of three kinds that no change to a system touches: integer and "
        "fp32 arithmetic on one core, reading memory far beyond the caches with all cores, "
        "starting "
        "processes and passing bytes between two of them. When it becomes slower, the machine did; "
        "trends are drawn relative to it.";
    experiment.variants = {"fixed"};
    experiment.metrics = {
        {"arithmetic",
         "s",
         "30 million dependent integer steps and 150 matrix products, one core",
         Direction::lower,
         false,
         {}},
        {"memory", "s", "reading 1 GiB with all cores", Direction::lower, false, {}},
        {"processes",
         "s",
         "50 child processes and 4000 round trips over pipes",
         Direction::lower,
         false,
         {}},
        {"checksum", "count", "what the work came to", Direction::none, true, {}}};
    for (const Profile profile :
         {Profile::toy, Profile::small, Profile::gpu, Profile::cluster, Profile::paper}) {
        ProfilePlan plan;
        plan.profile = profile;
        plan.provenances = {Provenance::measured};
        plan.seconds_per_sample = 0.5;
        plan.bytes_per_sample = 2000;
        plan.timeout_s = 120;
        experiment.profiles.push_back(plan);
    }
    experiment.figure = {Figure::Kind::bars, "arithmetic", "variant", {}, "",
                         "arithmetic (s)",   false};
    experiment.run = run;
    return experiment;
}

}  // namespace

System make_system() {
    System system;
    system.id = "assay";
    system.title = "The suite itself";
    system.paper = "none";
    system.on_request = true;
    system.experiments.push_back(make_control());
    return system;
}

}  // namespace assay::control
