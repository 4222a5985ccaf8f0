#include "impls/lazarus/simulated/training.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "impls/lazarus/simulated/course_keeper.hpp"
#include "impls/lazarus/simulated/modelled_durations.hpp"
#include "impls/lazarus/simulated/planned_trouble.hpp"
#include "suite/base/error.hpp"
#include "suite/drive/simulated/event_queue.hpp"

namespace assay::lazarus {
namespace {

// A bad link has no price here: steps are priced as a whole.
void require_supported(const Fault& fault) {
    if (fault.t_s && fault.kind != FaultKind::link) return;
    throw NotSupportedHere(fmt::format(
        "the fault {} cannot be simulated: those at a time (@t=SECONDS) can, bad links excepted; "
        "others need processes (--mode emulated)",
        to_string(fault)));
}

}  // namespace

SimulatedCourse simulate_training(const ModelledTraining& training, const CostModel& costs,
                                  drive::VirtualTime& time, Recorder& recorder) {
    for (const Fault& fault : training.faults.faults) require_supported(fault);
    ModelledDurations durations(costs, training);
    SimulatedCluster cluster(training.controller, time, durations, training.keep_decisions);
    CourseKeeper keeper(cluster, recorder,
                        {.duration_s = training.duration_s,
                         .work = training.wanted_work,
                         .checkpoint_s = durations.checkpoint_s()});
    PlannedTrouble trouble(training.faults, cluster, [&](const Fault& fault, Worker worker) {
        keeper.struck(fault, worker);
    });
    cluster.attach(keeper);
    cluster.attach(trouble);

    for (int i = 0; i < training.controller.initial_workers; ++i) cluster.spawn();
    if (training.duration_s > 0) time.at(training.duration_s, [&] { keeper.time_is_up(); });
    while (!cluster.ended() && time.next()) {
    }
    keeper.end(false, "too few workers are left to hold every expert, and none will join");
    if (!cluster.complaint().empty())
        throw std::logic_error("the protocol was not kept to: " + cluster.complaint());

    SimulatedCourse course{keeper.course(), cluster.decisions()};
    course.counts = cluster.controller().counts();
    course.lineage = cluster.controller().lineage();
    return course;
}

SimulatedCourse simulate_training(const ModelledTraining& training, Recorder& recorder) {
    const CostModel costs(cluster_profile(training.modelling.cluster));
    drive::EventQueue time;
    return simulate_training(training, costs, time, recorder);
}

}  // namespace assay::lazarus
