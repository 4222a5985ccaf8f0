#include "impls/lazarus/spot/spot_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>

#include "impls/lazarus/policy/rivals/systems.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

constexpr int real_tokens = 128;  // of a worker and real step; each stands for several

constexpr int min_replicas = 2;                                  // section 6.1
constexpr int rebalance_every = 200;                             // section 6.1
constexpr int checkpoint_every = 250, ds_checkpoint_every = 50;  // section 6.4
constexpr double join_wait_s = 120;                              // section 6.4

Step real_steps(int modelled, int per_step, const char* what) {
    if (modelled % per_step != 0)
        throw UserError(
            fmt::format("axis modelled_steps: {} does not divide the {} steps between {}", per_step,
                        modelled, what));
    return modelled / per_step;
}

ControllerConfig controller_of(const SpotTraining& training, const ModelledModel& model) {
    const int per_step = training.modelled_steps;
    const CompetingSystem& system = competing_system(training.system);
    ControllerConfig controller;
    controller.placement = training.placement;
    set_system(controller, system);
    controller.layers = training.real_layers;
    controller.experts = model.experts;
    controller.steps = training.steps;
    controller.initial_workers = training.workers;
    controller.join_wait_s = join_wait_s;
    controller.wait_for_nodes = true;
    controller.checkpoint_every =
        real_steps(system.recovery == Recovery::restart ? ds_checkpoint_every : checkpoint_every,
                   per_step, "checkpoints");
    if (system.in_groups()) {
        controller.group = model.group;
        controller.slots = model.experts / model.group;
        controller.min_replicas = 1;
        controller.rebalance_every = 0;
        return controller;
    }
    controller.slots = training.slots;
    controller.min_replicas = min_replicas;
    controller.rebalance_every = real_steps(rebalance_every, per_step, "rebalances");
    return controller;
}

}  // namespace

ModelledTraining modelled_training(const SpotTraining& training) {
    const auto model = modelled_model(training.model);
    ModelledTraining modelled;
    modelled.controller = controller_of(training, model);
    modelled.modelling = {.model = model,
                          .cluster = training.cluster,
                          .real_layers = training.real_layers,
                          .real_tokens = double(real_tokens),
                          .modelled_steps = training.modelled_steps,
                          .dispatch = dispatch_of(competing_system(training.system), model.group,
                                                  model.rows() / real_tokens),
                          .overlap = training.overlap};
    modelled.routing = {.trace = training.routing,
                        .seed = training.seed,
                        .modelled_steps = training.modelled_steps,
                        .layers = training.real_layers,
                        .experts = model.experts};
    modelled.duration_s = training.duration_s;
    modelled.relaunch_s = training.relaunch_s;
    return modelled;
}

double samples_of(const StepRecord& step, const Modelling& modelling) {
    return double(step.workers) * modelling.model.sequences * modelling.modelled_steps;
}

// ---- work done ---------------------------------------------------------------------------------

std::vector<StepRecord> kept_steps(const TrainingCourse& course, double duration_s) {
    std::map<Step, StepRecord> last;
    for (const auto& step : course.steps) last[step.step] = step;
    // What the newest restart undid and nobody made again is not in the lineage.
    last.erase(last.lower_bound(static_cast<Step>(course.lineage.size())), last.end());
    std::vector<StepRecord> kept;
    for (const auto& [number, step] : last)
        if (step.end_s <= duration_s) kept.push_back(step);
    return kept;
}

RateCurve rate_of(const std::vector<StepRecord>& steps, double samples_per_worker,
                  double duration_s) {
    RateCurve curve(duration_s);
    for (const auto& step : steps)
        if (step.end_s <= duration_s && step.end_s > step.start_s)
            curve.add(step.start_s, step.end_s, step.workers * samples_per_worker);
    return curve;
}

double mean_workers(const std::vector<StepRecord>& steps, double duration_s) {
    double sum = 0, time = 0;
    for (const auto& step : steps) {
        if (step.end_s > duration_s) continue;
        sum += step.workers * (step.end_s - step.start_s);
        time += step.end_s - step.start_s;
    }
    return time > 0 ? sum / time : 0;
}

}  // namespace assay::lazarus
