// Samples of x_faults, and the seeds of the live campaign, in the module of tensors.
#include "impls/dr_post_training/experiments/x_faults.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "impls/dr_post_training/live/session.hpp"
#include "impls/dr_post_training/live/worker.hpp"
#include "impls/elastic/watch.hpp"
#include "impls/nn/hashes.hpp"
#include "suite/drive/recording.hpp"

namespace assay::dr_post_training {
namespace {

/// Empty: the training is what it is without faults.
std::string broken_rule(const SessionOptions& options, const SessionResult& result) {
    if (!result.ok) return "the training ended early: " + result.why;
    at::set_num_threads(1);
    const SessionResult expected = run_undisturbed(options);
    if (result.steps.size() != expected.steps.size())
        return fmt::format("{} of {} steps were stored", result.steps.size(),
                           expected.steps.size());
    for (std::size_t i = 0; i < expected.steps.size(); ++i)
        if (!(result.steps[i] == expected.steps[i]))
            return fmt::format("step {} is not what it is without faults", i);
    if (result.digest != expected.digest) return "the state at the end differs";
    // Nothing poisoned is left where a later training would find it.
    GuardedTraining training(options.training);
    const auto& faults = options.faults.faults;
    auto torn = std::count_if(faults.begin(), faults.end(),
                              [](const Fault& fault) { return fault.kind == FaultKind::torn; });
    for (const Step step : result.checkpoints) {
        try {
            training.read(checkpoint_file(options.checkpoints, step), step);
        } catch (const BadCheckpoint& bad) {
            if (--torn < 0) return fmt::format("a checkpoint that nobody tore: {}", bad.what());
            continue;  // its own digest says so
        }
        if (training.digest() != expected.steps[static_cast<std::size_t>(step - 1)].digest)
            return fmt::format("the checkpoint of step {} holds another state", step);
    }
    const auto broken = elastic::watch_decisions(
        Guard(options.guard), elastic::Watch({.steps = options.guard.steps, .alone = true}),
        result.decisions);
    return broken.empty() ? "" : broken.front();
}

SessionOptions options_with(std::string arm, Step steps, Step checkpoint_every, std::uint64_t seed,
                            FaultPlan faults, const std::filesystem::path& scratch) {
    SessionOptions options;
    options.guard.steps = steps;
    options.guard.checkpoint_every = checkpoint_every;
    options.training = {.arm = std::move(arm), .steps = steps, .seed = seed, .rate = 1e-3};
    options.faults = std::move(faults);
    options.supervisor.heartbeat_timeout = cluster::Seconds(3);
    options.checkpoints = scratch / "checkpoints";
    return options;
}

/// Up to four of the faults that one worker can suffer, at steps of their own; the last may be its
/// end.
FaultPlan faults_of(std::uint64_t seed, Step steps) {
    const auto draw = [&](std::uint64_t what, std::uint64_t below) {
        return nn::counter_hash(nn::counter_hash(seed) ^ what) % below;
    };
    const auto count = 1 + draw(0, 4);
    FaultPlan plan;
    for (std::uint64_t i = 0; i < count; ++i) {
        Fault fault;
        fault.rank = 0;
        const auto share = static_cast<std::uint64_t>(steps - 1) / count;
        fault.step = static_cast<long>(1 + i * share + draw(10 + i, share));
        const bool last = i + 1 == count;
        switch (draw(20 + i, last ? 8 : 4)) {
            case 0:
                fault.kind = FaultKind::nan;
                break;
            case 1:
                fault.kind = FaultKind::disk_full;
                break;
            case 2:
                fault.kind = FaultKind::torn;
                break;
            case 3:
                fault.kind = FaultKind::hang;
                fault.for_s = 0.2;
                break;
            case 4:
                fault.kind = FaultKind::hang;  // for good
                break;
            case 5:
                fault.kind = FaultKind::corrupt;
                fault.target = "tensor";
                break;
            default:
                fault.kind = FaultKind::kill;
        }
        plan.faults.push_back(fault);
    }
    return plan;
}

drive::SeedOutcome live_schedule(std::uint64_t seed, const std::filesystem::path& scratch) {
    constexpr Step steps = 12;
    const auto options = options_with(seed % 3 == 0 ? "global" : "layer", steps, 3, seed,
                                      faults_of(seed, steps - 2), scratch);
    drive::SeedOutcome outcome;
    outcome.says = fmt::format("{}: {}", options.training.arm, to_string(options.faults));
    auto launcher = cluster::make_fork_server(worker_main);
    MemoryRecorder recorder;
    const auto result = run_training(std::move(launcher), options, recorder);
    outcome.why = broken_rule(options, result);
    outcome.ok = outcome.why.empty();
    outcome.counts = {{"faults_planned", static_cast<long>(options.faults.faults.size())},
                      {"faults_fired", result.faults_fired},
                      {"steps", static_cast<long>(result.steps.size())},
                      {"redone", result.counts.redone},
                      {"repeated", result.counts.repeated},
                      {"restarted", result.counts.restarted},
                      {"restored", result.counts.restored},
                      {"unwritten", result.counts.unwritten},
                      {"unreadable", result.counts.unreadable}};
    for (const auto& event : recorder.events)
        if (event.kind == "fault")
            ++outcome.counts["fault." + event.detail.at("kind").get<std::string>()];
    return outcome;
}

}  // namespace

void run(const FaultyTraining& faulty, Recorder& recorder) {
    const auto options = options_with(faulty.arm, faulty.steps, faulty.checkpoint_every,
                                      faulty.seed, faulty.faults, faulty.scratch);
    // The fork server comes first: it must be forked before libtorch starts threads here.
    const auto result = run_training(cluster::make_fork_server(worker_main), options, recorder);
    recorder.artifact("decisions.jsonl", recorded_guard,
                      drive::recording_text(recorded_guard, options.guard, result.decisions));
    if (!result.ok) throw SampleError(SampleStatus::failed, result.why);
    const std::string broken = broken_rule(options, result);
    const FaultsFound found(recorder);
    found.state_equal(broken.empty());
    found.stored_steps(result.steps.size());
    found.faults_fired(result.faults_fired);
    found.deaths(result.deaths);
    found.redone(result.counts.redone);
    found.restored(result.counts.restored);
    found.restarted(result.counts.restarted);
    found.repeated(result.counts.repeated);
    found.unwritten(result.counts.unwritten);
    found.unreadable(result.counts.unreadable);
    if (!broken.empty()) throw SampleError(SampleStatus::failed, broken);
    const auto planned = static_cast<long>(options.faults.faults.size());
    if (result.faults_fired != planned)
        throw SampleError(SampleStatus::invalid,
                          fmt::format("{} of {} faults never struck: the training ended, or their "
                                      "worker had gone",
                                      planned - result.faults_fired, planned));
}

static const tensors::Provided provided_training(train_under_faults, run),
    provided_schedule(run_live_schedule, live_schedule);

}  // namespace assay::dr_post_training
