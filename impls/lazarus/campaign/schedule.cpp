#include "impls/lazarus/campaign/schedule.hpp"

#include <algorithm>

#include "impls/lazarus/campaign/virtual_world.hpp"

namespace assay::lazarus::campaign {
namespace {

int uniform(std::mt19937_64& random, int low, int high) {
    return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

template <std::size_t n>
int pick(std::mt19937_64& random, const int (&choices)[n]) {
    return choices[random() % n];
}

/// Which system the controller is set to, and what else goes wrong. A generator of its own, so that
/// what a seed stood for before stays what it stands for.
void add_rivals_and_faults(Schedule& schedule) {
    std::mt19937_64 random(schedule.seed ^ 0x7269'7661'6c73ULL);
    ControllerConfig& job = schedule.job;
    const int system = uniform(random, 0, 9);  // up to 5: Lazarus itself
    if (system >= 8) job.recovery = Recovery::restart;
    if (system == 6 || system == 7 || system == 8) {
        job.layout = Layout::groups;
        job.group = uniform(random, 1, 4);
        job.experts = job.group * uniform(random, 1, 2);
        job.slots = job.experts / job.group + uniform(random, 0, 1);
        job.initial_workers = std::max(job.initial_workers, job.group);
        schedule.spawned = std::max(schedule.spawned, job.initial_workers);
    }
    job.most_retries = random() % 8 == 0 ? 0 : uniform(random, 2, 4);
    job.wait_for_nodes = random() % 5 == 0;
    job.checkpoint_wait_s = random() % 3 == 0 ? 45 : 2000;  // never join_wait_s

    FaultOdds& odds = schedule.fault_odds;
    const auto often_or_never = [&](double often) { return random() % 3 == 0 ? often : 0; };
    odds.nan = often_or_never(0.04);
    odds.nan_again = 0.1 * uniform(random, 0, 8);
    odds.corrupt_step = often_or_never(0.05);
    odds.corrupt_transfer = often_or_never(0.05);
    odds.cut_link = often_or_never(0.01);
    odds.torn_checkpoint = often_or_never(0.5);
    odds.disk_full = often_or_never(0.1);
    odds.corrupt_tensor = often_or_never(0.02);
    for (int i = uniform(random, 0, 2); i > 0; --i) {
        const auto kind =
            random() % 2 ? TimedFault::Kind::slow_worker : TimedFault::Kind::slow_link;
        const double length = 30.0 * static_cast<double>(job.steps);
        schedule.faults.push_back({kind, length * static_cast<double>(random() % 1000) / 1000});
    }
}

}  // namespace

Schedule draw_schedule(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Schedule schedule;
    schedule.seed = seed;
    ControllerConfig& job = schedule.job;
    job.layers = uniform(random, 1, 3);
    job.experts = uniform(random, 1, 7);
    job.initial_workers = uniform(random, 2, 8);
    const int enough = (job.experts + job.initial_workers - 1) / job.initial_workers;
    job.slots = enough + uniform(random, 0, 3);
    job.min_replicas = uniform(random, 1, 3);
    job.placement = static_cast<PlacementPolicy>(random() % 3);
    job.steps = uniform(random, 8, 40);
    job.rebalance_every = pick(random, {0, 3, 5, 8});
    job.checkpoint_every = pick(random, {0, 2, 5, 7});
    job.join_wait_s = pick(random, {0, 0, 60});
    schedule.spawned = job.initial_workers + (random() % 8 == 0 ? 1 : 0);

    // Each seed favours a few moments, so that faults pile up there.
    for (double& odds : schedule.odds) odds = random() % 3 == 0 ? 0.03 : 0.002;
    schedule.odds[static_cast<std::size_t>(Moment::joiner_goes)] *= 4;  // joins are rare
    schedule.strikes = uniform(random, 0, 6);
    schedule.replacement_odds = 0.25 * uniform(random, 1, 4);
    schedule.slowest_message = pick(random, {1, 5, 40});
    schedule.slowest_detection = pick(random, {1, 30, 100});
    schedule.slowest_write = pick(random, {1, 8, 60});
    const int timed = uniform(random, 0, 7);
    const double length = 30.0 * static_cast<double>(job.steps);
    for (int i = 0; i < timed; ++i) {
        const auto kind = static_cast<TimedFault::Kind>(random() % 6);
        schedule.faults.push_back({kind, length * static_cast<double>(random() % 1000) / 1000});
    }
    add_rivals_and_faults(schedule);
    return schedule;
}

Outcome run_virtual_schedule(std::uint64_t seed, const ControllerConfig* controller) {
    const Schedule schedule = draw_schedule(seed);
    VirtualWorld world(schedule, controller ? *controller : schedule.job);
    world.run();
    const auto& counts = world.controller().counts();
    Outcome outcome{world.failure().empty(), world.failure(), {}, ""};
    outcome.counts = {{"commits", counts.commits},
                      {"discarded", counts.discarded},
                      {"reconfigurations", counts.reconfigurations},
                      {"fallbacks", counts.fallbacks},
                      {"retries", counts.retries},
                      {"evictions", counts.evictions},
                      {"bad_checkpoints", counts.bad_checkpoints},
                      {"waits", counts.waits},
                      {"finished", world.finished_ok() ? 1 : 0}};
    for (const auto& [kind, times] : world.faults()) outcome.counts["fault." + kind] += times;
    return outcome;
}

}  // namespace assay::lazarus::campaign
