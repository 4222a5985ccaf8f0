#include "impls/hetermoe/emulated/emulate_arm.hpp"

#include <fmt/format.h>

#include "impls/hetermoe/emulated/paced_arm.hpp"
#include "impls/tensors/live_training.hpp"

namespace assay::hetermoe {
namespace {

// A task of a layer is then some ten milliseconds, against which waking up is little.
constexpr double step_s = 3;

}  // namespace

std::vector<MetricSpec> emulation_metrics() {
    const auto metric = [](const char* name, const char* unit, const char* says,
                           Direction better = Direction::none) {
        return MetricSpec{.name = name,
                          .unit = unit,
                          .says = says,
                          .better = better,
                          .only = {Provenance::emulated}};
    };
    return {
        metric("simulated_tokens_per_s", "1/s", "of the same point"),
        metric("timeline_error", "share", "of the simulated step, by which this one is longer"),
        metric("late", "share",
               "of the step, in which tasks that others waited for were late: more than 3 %, and "
               "the sample is invalid",
               Direction::lower),
        metric("attempts", "count", "at the step, until it was late by no more"),
        metric("difference", "ratio", "of weights from those that one process computes",
               Direction::lower)};
}

std::optional<std::string> emulation_lacks(std::string_view arm) {
    if (!can_be_paced(arm)) return fmt::format("{} is simulated only", arm);
    return tensors::processes_lack();
}

void emulate_arm(const EmulatedSample& sample, const std::function<void(const ArmResult&)>& record,
                 Recorder& recorder) {
    PacedArm arm = paced_arm(sample.point, sample.arm, sample.simulated, step_s);
    for (PacedArm::Part& part : arm.parts) part.plan.seed = sample.seed;
    const std::vector<PacedPlan> plans = arm.plans();
    const std::vector<PacedRun> runs = run_paced(plans);
    ArmResult result = arm.result(runs);
    result.moved = sample.simulated.moved;
    record(result);
    double late = 0, difference = 0;
    int attempts = 0;
    for (const PacedRun& run : runs) {
        late = std::max(late, run.late());
        difference = std::max(difference, run.difference);
        attempts += run.attempts();
    }
    const double simulated = sample.simulated.tokens_per_s;
    recorder.metric("simulated_tokens_per_s", simulated);
    recorder.metric("timeline_error", simulated / result.tokens_per_s - 1);
    recorder.metric("late", late);
    recorder.metric("attempts", attempts);
    recorder.metric("difference", difference);
    record_tasks(runs.front().steps.front(), recorder);
    for (std::size_t i = 0; i < runs.size(); ++i) require_punctual(plans[i], runs[i]);
}

}  // namespace assay::hetermoe
