#include "impls/lazarus/spot/live_schedule.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "impls/lazarus/live/fault_phases.hpp"
#include "impls/lazarus/live/worker.hpp"
#include "impls/lazarus/policy/rivals/systems.hpp"
#include "impls/lazarus/spot/spot_session.hpp"
#include "impls/lazarus/watch/watch_decisions.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

constexpr int workers = 6;
constexpr Step steps = 14;

SpotTraining training_of(std::uint64_t seed, const std::string& system) {
    constexpr std::array models{"gpt-s", "gpt-m", "gpt-s"};
    std::vector<std::string> systems;
    for (const CompetingSystem& one : competing_systems())
        if (!tensors_lack(one)) systems.emplace_back(one.name);
    // Every other one is the first, Lazarus.
    const std::size_t drawn = seed % 2 == 0 ? 0 : 1 + seed / 2 % (systems.size() - 1);
    SpotTraining training;
    training.system = system.empty() ? systems[drawn] : system;
    training.model = models[seed / systems.size() % models.size()];
    training.workers = workers;
    training.real_layers = 2;
    training.steps = steps;
    training.seed = seed;
    return training;
}

FaultPlan faults_of(std::uint64_t seed) {
    FaultPlan plan = random_fault_plan({.workers = workers,
                                        .steps = steps - 2,
                                        .faults = 2 + static_cast<int>(seed % 4),
                                        .joins = true,
                                        .hangs = true,
                                        .network = true,
                                        .data = true},
                                       seed, fault_phases());
    // Drawn for real seconds; a paced second is shorter.
    for (auto& fault : plan.faults) {
        if (fault.for_s) fault.for_s = *fault.for_s * 100;
        fault.latency_s *= 100;
        fault.bandwidth /= 100;
    }
    return plan;
}

long children_alive() {
    std::ifstream in("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    long count = 0, pid = 0;
    while (in >> pid) ++count;
    return count;
}

// Empty: every rule was kept.
std::string broken_rule(const SessionOptions& options, const SessionResult& result) {
    if (result.gave_up) return "";  // rightly: nobody was left to hold every expert
    if (!result.ok) return "the training ended early: " + result.why;
    if (static_cast<Step>(result.lineage.size()) != steps)
        return fmt::format("{} of {} steps are in the lineage", result.lineage.size(), steps);
    for (Step step = 0; step < steps; ++step)
        if (result.lineage[static_cast<std::size_t>(step)].step != step)
            return fmt::format("the lineage has no step {}", step);
    const int group = options.training.group;
    for (const auto& step : result.lineage)
        if (group > 0 && step.training.size() % static_cast<std::size_t>(group) != 0)
            return fmt::format("step {} trained on {} workers, no multiple of {}", step.step,
                               step.training.size(), group);
    if (const auto broken = watch_decisions(options.controller, result.decisions); !broken.empty())
        return broken.front();
    if (!agrees(result.digests, replay_lineage(options.training, result.lineage)))
        return "the state differs from that of the same membership without faults";
    if (const long left = children_alive(); left > 0)
        return fmt::format("{} processes are left behind", left);
    return "";
}

drive::SeedOutcome run(std::uint64_t seed, const std::string& system,
                       const std::filesystem::path& corpus, const std::filesystem::path& scratch) {
    const auto training = training_of(seed, system);
    auto options = spot_session(training, corpus, scratch);
    options.controller.checkpoint_every = 3;
    options.controller.join_wait_s = 5;
    options.supervisor.heartbeat_timeout = cluster::Seconds(1.5);
    options.faults = faults_of(seed);
    drive::SeedOutcome outcome;
    outcome.says =
        fmt::format("{}/{}: {}", training.system, training.model, to_string(options.faults));
    auto launcher = cluster::make_fork_server(worker_main);
    MemoryRecorder recorder;
    const auto result = run_training(std::move(launcher), options, recorder);
    at::set_num_threads(1);
    outcome.why = broken_rule(options, result);
    outcome.ok = outcome.why.empty();
    outcome.counts = {{"faults_planned", static_cast<long>(options.faults.faults.size())},
                      {"faults_fired", result.faults_fired},
                      {"gave_up", result.gave_up ? 1 : 0},
                      {"commits", result.counts.commits},
                      {"discarded", result.counts.discarded},
                      {"deaths", result.counts.deaths},
                      {"joins", result.joins},
                      {"leaves", result.counts.leaves},
                      {"fallbacks", result.counts.fallbacks},
                      {"retries", result.counts.retries},
                      {"evictions", result.counts.evictions},
                      {"bad_checkpoints", result.counts.bad_checkpoints}};
    for (const auto& event : recorder.events)
        if (event.kind == "fault")
            ++outcome.counts["fault." + event.detail.at("kind").get<std::string>()];
    return outcome;
}

const tensors::Provided provided(run_live_schedule, run);

}  // namespace
}  // namespace assay::lazarus
