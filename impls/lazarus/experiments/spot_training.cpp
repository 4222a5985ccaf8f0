#include "impls/lazarus/experiments/spot_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

constexpr int real_context = 32, real_sequences = 4;  // of the small model that really trains

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
    ControllerConfig controller;
    controller.layers = training.real_layers;
    controller.experts = model.experts;
    controller.steps = training.steps;
    controller.initial_workers = training.workers;
    controller.join_wait_s = join_wait_s;
    controller.wait_for_nodes = true;
    if (training.system == "ds" || training.system == "ds_ft") {
        const bool restart = training.system == "ds";
        controller.layout = Layout::groups;
        controller.group = model.group;
        controller.slots = model.experts / model.group;
        controller.min_replicas = 1;
        controller.recovery = restart ? Recovery::restart : Recovery::peers;
        controller.rebalance_every = 0;
        controller.checkpoint_every =
            real_steps(restart ? ds_checkpoint_every : checkpoint_every, per_step, "checkpoints");
        return controller;
    }
    controller.slots = training.slots;
    controller.min_replicas = min_replicas;
    controller.placement = training.system == "spread"    ? PlacementPolicy::spread
                           : training.system == "compact" ? PlacementPolicy::compact
                                                          : training.placement;
    controller.rebalance_every = real_steps(rebalance_every, per_step, "rebalances");
    controller.checkpoint_every = real_steps(checkpoint_every, per_step, "checkpoints");
    return controller;
}

}  // namespace

SessionOptions spot_session(const SpotTraining& training, const std::filesystem::path& corpus,
                            const std::filesystem::path& scratch) {
    const auto model = modelled_model(training.model);
    SessionOptions options;
    options.controller = controller_of(training, model);
    options.training.model = {.layers = training.real_layers,
                              .width = 16,
                              .heads = 2,
                              .experts = model.experts,
                              .hidden = 16,
                              .context = real_context};
    options.training.sequences = real_sequences;
    options.training.seed = training.seed;
    options.training.corpus = corpus.string();
    options.training.routing = training.routing;
    options.training.modelled_steps = training.modelled_steps;
    const bool groups = options.controller.layout == Layout::groups;
    options.training.group = groups ? model.group : 0;
    options.supervisor.heartbeat_timeout = cluster::Seconds(3.0);
    options.checkpoints = scratch / "checkpoints";
    PacingOptions pacing;
    pacing.modelling = {.model = model,
                        .cluster = training.cluster,
                        .real_layers = training.real_layers,
                        .real_tokens = double(real_context) * real_sequences,
                        .modelled_steps = training.modelled_steps,
                        .group = options.training.group};
    pacing.duration_s = training.duration_s;
    pacing.relaunch_s = training.relaunch_s;
    options.pacing = pacing;
    return options;
}

void require_paced(const PacedTime::Summary& pacing) {
    constexpr double most = 0.05;
    if (pacing.overrun() <= most) return;
    throw SampleError(SampleStatus::invalid,
                      fmt::format("real work was late by {:.1f} % of the modelled time (5 % are "
                                  "allowed): {}",
                                  100 * pacing.overrun(),
                                  pacing.link_stays_bad
                                      ? "a link fault without an end is not part of it; say with "
                                        "'for' how long the fault lasts"
                                      : "is something else using this machine's processors?"));
}

double samples_of(const StepRecord& step, const Modelling& modelling) {
    return double(step.workers) * modelling.model.sequences * modelling.modelled_steps;
}

// ---- work done ---------------------------------------------------------------------------------

namespace {

constexpr double bin_s = 60;

// `amount` per second, spread evenly over [from, to), added to the bins.
void spread_over(std::vector<double>& bins, double from, double to, double amount) {
    for (double at = from; at < to;) {
        const auto bin = std::min(bins.size() - 1, std::size_t(at / bin_s));
        const double until = bin + 1 == bins.size() ? to : std::min(to, double(bin + 1) * bin_s);
        bins[bin] += amount * (until - at) / bin_s;
        at = until;
    }
}

}  // namespace

std::vector<StepRecord> kept_steps(const SessionResult& result, double duration_s) {
    std::map<Step, StepRecord> last;
    for (const auto& step : result.steps) last[step.step] = step;
    // What the newest restart undid and nobody made again is not in the lineage.
    last.erase(last.lower_bound(static_cast<Step>(result.lineage.size())), last.end());
    std::vector<StepRecord> kept;
    for (const auto& [number, step] : last)
        if (step.end_s <= duration_s) kept.push_back(step);
    return kept;
}

RateCurve rate_of(const std::vector<StepRecord>& steps, double samples_per_worker,
                  double duration_s) {
    const auto bins = std::size_t(std::ceil(duration_s / bin_s));
    RateCurve curve{std::vector<double>(bins), std::vector<double>(bins, 0)};
    for (std::size_t i = 0; i < bins; ++i) curve.t_s[i] = (double(i) + 0.5) * bin_s;
    for (const auto& step : steps)
        if (step.end_s <= duration_s && step.end_s > step.start_s)
            spread_over(curve.samples, step.start_s, step.end_s,
                        step.workers * samples_per_worker / (step.end_s - step.start_s));
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
