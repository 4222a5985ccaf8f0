#include "impls/lazarus/campaign/campaign.hpp"

#include "impls/lazarus/campaign/virtual_world.hpp"

namespace assay::lazarus::campaign {

Outcome run_virtual_schedule(std::uint64_t seed, const ControllerConfig* controller) {
    const Schedule schedule = draw_schedule(seed);
    VirtualWorld world(schedule, controller ? *controller : schedule.job);
    world.run();
    const auto& counts = world.controller().counts();
    Outcome outcome{world.failure().empty(), world.failure(), {}};
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
