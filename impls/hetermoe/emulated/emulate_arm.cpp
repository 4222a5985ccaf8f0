#include "impls/hetermoe/emulated/emulate_arm.hpp"

#include <fmt/format.h>

#include "impls/hetermoe/emulated/paced_arm.hpp"

namespace assay::hetermoe {
namespace {

// A task of a layer is then some ten milliseconds, against which waking up is little.
constexpr double step_s = 3;

struct Compared : Metrics {
    using Metrics::Metrics;
    Metric simulated_tokens_per_s = varying("simulated_tokens_per_s", "1/s", "of the same point");
    Metric timeline_error =
        varying("timeline_error", "share", "of the simulated step, by which this one is longer");
};
using EmulationFound = WithLateness<Compared>;

}  // namespace

std::vector<MetricSpec> emulation_metrics() {
    std::vector<MetricSpec> metrics = declared<EmulationFound>();
    for (MetricSpec& metric : metrics) metric.only = {Provenance::emulated};
    return metrics;
}

std::optional<std::string> emulation_lacks(Arm arm) {
    if (!can_be_paced(arm)) return fmt::format("{} is simulated only", to_string(arm));
    return run_paced.lacks();
}

void emulate_arm(const EmulatedSample& sample, Recorder& recorder) {
    PacedArm arm = paced_arm(sample.point, sample.arm, sample.simulated, step_s);
    for (PacedArm::Part& part : arm.parts) part.plan.seed = sample.seed;
    const std::vector<PacedPlan> plans = arm.plans();
    const std::vector<PacedRun> runs = run_paced(plans);
    ArmResult result = arm.result(runs);
    result.moved = sample.simulated.moved;
    ArmFound(recorder).record(result);
    double late = 0, difference = 0;
    int attempts = 0;
    for (const PacedRun& run : runs) {
        late = std::max(late, run.late());
        difference = std::max(difference, run.difference);
        attempts += run.attempts();
    }
    const double simulated = sample.simulated.tokens_per_s;
    const EmulationFound found(recorder);
    found.simulated_tokens_per_s(simulated);
    found.timeline_error(simulated / result.tokens_per_s - 1);
    found.late(late);
    found.attempts(attempts);
    found.difference(difference);
    record_tasks(runs.front().steps.front(), recorder);
    for (std::size_t i = 0; i < runs.size(); ++i) require_punctual(plans[i], runs[i]);
}

}  // namespace assay::hetermoe
