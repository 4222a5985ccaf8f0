#include "impls/lazarus/campaign/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "impls/lazarus/campaign/virtual_run.hpp"
#include "impls/lazarus/policy/rivals/systems.hpp"

namespace assay::lazarus::campaign {
namespace {

int uniform(std::mt19937_64& random, int low, int high) {
    return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

template <std::size_t n>
int pick(std::mt19937_64& random, const int (&choices)[n]) {
    return choices[random() % n];
}

// ---- faults -------------------------------------------------------------------------------------

double some_time(std::mt19937_64& random, const Schedule& schedule) {
    const double length = 30.0 * static_cast<double>(schedule.job.steps);
    return length * static_cast<double>(random() % 1000) / 1000;
}

/// A worker of the beginning, or one that came later. It may be gone by then, or never come: then
/// its fault does not fire.
int some_rank(std::mt19937_64& random, const Schedule& schedule) {
    return uniform(random, 0, schedule.spawned + 2);
}

/// Somebody comes, goes, or freezes.
void add_coming_and_going(Schedule& schedule, std::mt19937_64& random) {
    Fault fault{.rank = some_rank(random, schedule), .t_s = some_time(random, schedule)};
    auto& faults = schedule.faults.faults;
    switch (random() % 6) {
        case 0:  // two at once
            faults.push_back(fault);
            fault.rank = some_rank(random, schedule);
            break;
        case 1:
            fault.kind = FaultKind::hang;
            break;
        case 2:
            fault.kind = FaultKind::hang;
            fault.for_s = uniform(random, 1, static_cast<int>(schedule.silence) - 1);
            break;
        case 3:
            fault.kind = FaultKind::join;
            fault.rank.reset();
            fault.count = uniform(random, 1, 2);
            break;
        case 4:  // often the market is quicker than the worker
            fault.kind = FaultKind::stop;
            if (random() % 2)
                faults.push_back({.rank = fault.rank, .t_s = *fault.t_s + uniform(random, 1, 200)});
            break;
        default:
            break;
    }
    faults.push_back(fault);
}

/// Somebody is slow, or cannot be reached well.
void add_slowness(Schedule& schedule, std::mt19937_64& random) {
    Fault fault{.kind = random() % 2 ? FaultKind::slow : FaultKind::link,
                .rank = some_rank(random, schedule),
                .t_s = some_time(random, schedule)};
    if (random() % 2) fault.for_s = uniform(random, 10, 400);
    if (fault.kind == FaultKind::slow) {
        fault.factor = uniform(random, 2, 8);
    } else {
        // A cut that never heals ends with somebody giving up.
        fault.cut = random() % 3 == 0 && (fault.for_s || !std::isinf(schedule.endurance));
        if (!fault.cut) fault.latency_s = uniform(random, 1, 60);
        const int peer = some_rank(random, schedule);
        if (random() % 2 && peer != *fault.rank) fault.peer = peer;
    }
    schedule.faults.faults.push_back(fault);
}

// ---- rivals -------------------------------------------------------------------------------------

/// What a seed decides by itself.
CompetingSystem drawn_system(std::mt19937_64& random) {
    CompetingSystem system;
    const int drawn = uniform(random, 0, 9);  // up to 5: Lazarus itself
    if (drawn >= 8) system.recovery = Recovery::restart;
    if (drawn >= 6 && drawn <= 8) system.layout = Layout::groups;
    return system;
}

/// Which system the controller is set to, and what else goes wrong. A generator of its own, so that
/// what a seed stood for before stays what it stands for.
void add_rivals_and_faults(Schedule& schedule, std::string_view forced) {
    std::mt19937_64 random(schedule.seed ^ 0x7269'7661'6c73ULL);
    ControllerConfig& job = schedule.job;
    CompetingSystem system = drawn_system(random);
    if (!forced.empty()) {
        system = competing_system(forced);
        job.placement = PlacementPolicy::mro;
    }
    set_system(job, system);
    if (system.in_groups()) {
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
    odds.torn = often_or_never(0.2);
    odds.disk_full = often_or_never(0.1);
    odds.corrupt_tensor = often_or_never(0.001);
    odds.broken_group = often_or_never(0.01);
    schedule.patience = pick(random, {20, 200, 200});
    // For ever: whoever is not told to stop waits on. Else not so short that every checkpoint is
    // taken for a break, and nobody gets anywhere.
    const int endurance = pick(random, {0, 120, 600});
    schedule.endurance =
        endurance == 0 ? drive::SimulatedWorld::forever
                       : endurance + 2 * schedule.slowest_message + 6 * schedule.slowest_write;
    for (int i = uniform(random, 0, 2); i > 0; --i) add_slowness(schedule, random);
}

}  // namespace

Schedule draw_schedule(std::uint64_t seed, std::string_view system) {
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
    for (int i = 0; i < timed; ++i) add_coming_and_going(schedule, random);
    add_rivals_and_faults(schedule, system);
    return schedule;
}

Outcome run_virtual_schedule(std::uint64_t seed, const ControllerConfig* controller,
                             std::string_view system) {
    const Schedule schedule = draw_schedule(seed, system);
    VirtualRun run(schedule, controller ? *controller : schedule.job);
    run.run();
    const auto& counts = run.controller().counts();
    Outcome outcome{.ok = run.failure().empty(),
                    .why = run.failure(),
                    .counts = {{"commits", counts.commits},
                               {"discarded", counts.discarded},
                               {"reconfigurations", counts.reconfigurations},
                               {"fallbacks", counts.fallbacks},
                               {"retries", counts.retries},
                               {"evictions", counts.evictions},
                               {"bad_checkpoints", counts.bad_checkpoints},
                               {"waits", counts.waits},
                               {"finished", run.finished_ok() ? 1 : 0}},
                    .faults = to_string(schedule.faults)};
    for (const auto& [kind, times] : run.trouble().faults())
        outcome.counts["fault." + kind] += times;
    return outcome;
}

}  // namespace assay::lazarus::campaign
