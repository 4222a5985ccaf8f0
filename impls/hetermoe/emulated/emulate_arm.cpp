#include "impls/hetermoe/emulated/emulate_arm.hpp"

#include <fmt/format.h>

#include "impls/hetermoe/emulated/paced_arm.hpp"
#include "impls/tensors/needs.hpp"

namespace assay::hetermoe {
namespace {

// A task of a layer is then some ten milliseconds, against which waking up is little.
constexpr double step_s = 3;

}  // namespace

std::vector<MetricSpec> emulation_metrics() {
    std::vector<MetricSpec> metrics = lateness_metrics();
    metrics.insert(metrics.begin(), {{"simulated_tokens_per_s", "1/s", "of the same point"},
                                     {"timeline_error", "share",
                                      "of the simulated step, by which this one is longer"}});
    for (MetricSpec& metric : metrics) metric.only = {Provenance::emulated};
    return metrics;
}

std::optional<std::string> emulation_lacks(std::string_view arm) {
    if (!can_be_paced(arm)) return fmt::format("{} is simulated only", arm);
    return tensors::lacks(tensors::Needs::processes);
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
