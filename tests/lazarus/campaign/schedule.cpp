#include "tests/lazarus/campaign/schedule.hpp"

namespace assay::lazarus::campaign {
namespace {

int uniform(std::mt19937_64& random, int low, int high) {
    return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

template <std::size_t n>
int pick(std::mt19937_64& random, const int (&choices)[n]) {
    return choices[random() % n];
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
    return schedule;
}

}  // namespace assay::lazarus::campaign
