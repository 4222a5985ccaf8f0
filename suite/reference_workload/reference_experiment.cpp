// The reference workload as an experiment. People know it as the control workload.
#include <algorithm>

#include "suite/experiment/recorder.hpp"
#include "suite/measure/environment.hpp"
#include "suite/reference_workload/reference_workload.hpp"

namespace assay::reference_workload {
namespace {

/// A double holds whole numbers up to 2^53.
constexpr std::uint64_t checksum_mask = (1ULL << 50) - 1;

/// What else the machine does only makes a piece of work slower: the fastest of several says best
/// what it can do.
TimedWork fastest(TimedWork (*work)()) {
    constexpr int times = 7;
    TimedWork best = work();
    for (int i = 1; i < times; ++i)
        if (const TimedWork again = work(); again.seconds < best.seconds) best = again;
    return best;
}

void run(const SampleSpec&, Recorder& recorder) {
    const TimedWork by_kernel = fastest(processes);  // forks: before the threads
    const TimedWork by_core = fastest(arithmetic);
    const TimedWork by_all = memory(std::max(1, measure::count_usable_processors()));
    recorder.metric("arithmetic", by_core.seconds);
    recorder.metric("memory", by_all.seconds);
    recorder.metric("processes", by_kernel.seconds);
    const std::uint64_t sum = by_kernel.checksum + by_core.checksum + by_all.checksum;
    recorder.metric("checksum", static_cast<double>(sum & checksum_mask));
}

Experiment make_reference_workload() {
    Experiment experiment;
    experiment.id = "assay/control";
    experiment.title = "Control workload: how fast is this machine today?";
    experiment.source = "the suite's own";
    experiment.says =
        "A fixed amount of work of three kinds that no change to a system touches: integer and "
        "fp32 arithmetic on one core, reading memory far beyond the caches with all cores, "
        "starting processes and passing bytes between two of them. When it becomes slower, the "
        "machine did; "
        "trends are drawn relative to it.";
    experiment.variants = {"fixed"};
    experiment.metrics = {
        {"arithmetic",
         "s",
         "6 million dependent integer steps and 30 matrix products, one core, fastest of 7",
         Direction::lower,
         false,
         {}},
        {"memory",
         "s",
         "reading 256 MiB with all cores, fastest of 8",
         Direction::lower,
         false,
         {}},
        {"processes",
         "s",
         "10 child processes and 800 round trips over pipes, fastest of 7",
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
        plan.on_gpus = false;  // processors and memory, at every profile
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
    system.experiments.push_back(make_reference_workload());
    return system;
}

}  // namespace assay::reference_workload
