// A training without processes: the controller that live trainings have, in virtual time. Steps,
// recoveries and checkpoints take what the cost model says; nothing is computed, so nothing has to
// be held back, and an 80-minute trace takes a moment.
#pragma once

#include <vector>

#include "impls/lazarus/cost/modelled_model.hpp"
#include "impls/lazarus/course.hpp"
#include "impls/lazarus/data/routing_replay.hpp"
#include "impls/lazarus/policy/controller/protocol.hpp"
#include "suite/drive/policy.hpp"
#include "suite/drive/simulated/virtual_time.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/cost_model.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::lazarus {

/// A training on a modelled cluster: all that decides its course.
struct ModelledTraining {
    ControllerConfig controller;
    Modelling modelling;
    RoutingSource routing;
    FaultPlan faults;
    double duration_s = 0;   ///< after which it ends; 0: when its steps are done
    double relaunch_s = -1;  ///< replaces the cluster profile's; -1: does not
    /// Workers' steps after which it ends, each step that counts by the workers that trained it;
    /// 0: it does not.
    long wanted_work = 0;
    bool keep_decisions = true;  ///< in the course; they are large where many train for long
};

struct SimulatedCourse : TrainingCourse {
    /// What the controller was told and what it did about it, from the first join on.
    std::vector<drive::Decision<Controller>> decisions;
};

/// How a course ends whose wanted work is done.
inline constexpr const char* all_is_trained = "all is trained";

/// Events go to `recorder` as those of a live training do: fault, death, join, leave, checkpoint,
/// regroup, restart, retry, detection, evict. Faults: all kinds but link, keyed by time. Throws
/// NotSupportedHere for others: what they do to a step has no closed form here.
///
/// A member's death is known `detect_s` of the cluster's profile later; the step under way ends
/// with it. Who is frozen for so long is taken for dead. A group forms, and states travel, once
/// everyone in it has written the checkpoint it is at. Messages take no time. A function of its
/// arguments: equal ones give equal courses, bit for bit.
SimulatedCourse simulate_training(const ModelledTraining& training, Recorder& recorder);

/// The same on other costs than those of the cluster that it names, and on another source of
/// virtual time, which has seen nothing yet.
SimulatedCourse simulate_training(const ModelledTraining& training, const CostModel& costs,
                                  drive::VirtualTime& time, Recorder& recorder);

}  // namespace assay::lazarus
