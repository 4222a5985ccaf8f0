// What strikes Lazarus' training, and what its controller has counted afterwards.
#pragma once

#include <vector>

#include "impls/lazarus/policy/controller/protocol.hpp"
#include "tests/elastic/scenario.hpp"

namespace assay::lazarus {

struct ScenarioSettings {
    bool scarce = false;  ///< 8 slots for 4 experts on 4 workers: two losses take some expert along
    Step checkpoint_every = 3;
};
using Scenario = elastic::Scenario<ScenarioSettings>;

/// 5 workers with 3 slots, 2 layers of 4 experts, 8 steps, f = 2.
inline ControllerConfig controller_config(const ScenarioSettings& settings = {}) {
    return {.layers = 2,
            .experts = 4,
            .slots = settings.scarce ? 2 : 3,
            .min_replicas = settings.scarce ? 1 : 2,
            .placement = settings.scarce ? PlacementPolicy::compact : PlacementPolicy::mro,
            .steps = 8,
            .rebalance_every = 5,
            .checkpoint_every = settings.checkpoint_every,
            .initial_workers = settings.scarce ? 4 : 5};
}

inline std::vector<Scenario> scenarios() {
    using enum elastic::Clock;
    using elastic::one_death, elastic::one_retry;
    constexpr ScenarioSettings scarce{.scarce = true},
        no_checkpoint{.scarce = true, .checkpoint_every = 0};
    constexpr auto back = [](long steps, long bad_checkpoints = 0) {
        return elastic::Counts{.deaths = 2,
                               .discarded = 1,
                               .fallbacks = 1,
                               .rolled_back = steps,
                               .bad_checkpoints = bad_checkpoints};
    };
    // clang-format off
    return {
        {simulated, "Nothing", ""},
        // ---- deaths ---------------------------------------------------------------------------
        {both, "KillDuringStep", "kill:rank=1@step=3", one_death},
        {simulated, "KillDuringFirstStep", "kill:rank=0@step=0", one_death},
        {simulated, "KillDuringLastStep", "kill:rank=4@step=7", one_death},
        {simulated, "OneAfterTheOther", "kill:rank=1@step=2; kill:rank=3@step=5",
         {.deaths = 2, .discarded = 2}},
        {both, "KillDuringRegroup",
         "kill:rank=1@step=3; join:count=1@step=4; kill:rank=2,phase=regroup@step=5",
         {.deaths = 2, .joins = 1, .discarded = 1}},
        {both, "KillDuringTransfer", "join:count=1@step=2; kill:rank=0,phase=transfer@step=3",
         {.deaths = 1, .joins = 1}},
        {simulated, "KillInTheRebalance", "kill:rank=2,phase=transfer@step=5", {.deaths = 1}},
        {both, "HangForever", "hang:rank=2@step=3", one_death},
        {both, "ShortHangIsSurvived", "hang:rank=2@step=3,for=0.2"},
        // ---- coming and going -----------------------------------------------------------------
        {both, "OrderlyLeave", "stop:rank=3@step=2", {.leaves = 1}},
        {simulated, "Join", "join:count=1@step=2", {.joins = 1}},
        {both, "TwoJoinAtOnce", "join:count=2@step=2", {.joins = 2}},
        {simulated, "KillOfTheOneThatJustJoined", "join:count=1@step=2; kill:rank=5@step=3",
         {.deaths = 1, .joins = 1, .discarded = 1}},
        {simulated, "KillOfTheJoinerInItsFirstTransfer",
         "join:count=1@step=2; kill:rank=5,phase=transfer@step=3", {.deaths = 1, .joins = 1}},
        {simulated, "LeaveAndKillTogether", "stop:rank=3@step=3; kill:rank=4@step=3",
         {.deaths = 1, .leaves = 1, .discarded = 1}},
        // ---- steps and states -----------------------------------------------------------------
        {both, "NotANumber", "nan:rank=1@step=3", one_retry},
        {both, "CorruptMessage", "corrupt:rank=2,target=message@step=3", one_retry},
        {both, "CorruptTensor", "corrupt:rank=2,target=tensor@step=3",
         {.deaths = 1, .discarded = 1, .retries = 1}},
        {simulated, "SlowWorker", "slow:rank=1,factor=4@step=3,for=0.3"},
        // ---- checkpoints ----------------------------------------------------------------------
        // The newest is that before step 3: steps 3 and 4 go again.
        {simulated, "TwoAtOnceGoBackToTheCheckpoint", "kill:rank=0@step=5; kill:rank=1@step=5",
         back(2), scarce},
        {simulated, "WithoutACheckpointTrainingStartsOver",
         "kill:rank=0@step=4; kill:rank=1@step=4", back(4), no_checkpoint},
        // That before step 6 turns out torn, or was never whole; that before step 3 serves.
        {both, "TornCheckpointIsPassedOver",
         "torn:rank=0@step=4; kill:rank=0@step=7; kill:rank=1@step=7", back(4, 1), scarce},
        {both, "CheckpointThatFoundNoSpaceIsNotUsed",
         "disk_full:rank=2@step=4; kill:rank=0@step=7; kill:rank=1@step=7", back(4), scarce},
        // ---- links ----------------------------------------------------------------------------
        {real, "DelayedLink", "link:rank=1,peer=2,latency=0.02,bandwidth=1e6@step=3,for=0.3"},
        {real, "LossyLink", "link:rank=1,loss=0.2@step=3,for=0.3"},
        {real, "CutThatHeals", "link:rank=1,cut=1@step=3,for=0.2"},
        {real, "CutForGood", "link:rank=1,cut=1@step=3",
         {.deaths = 1, .discarded = 1, .evictions = 1}},
    };
    // clang-format on
}

}  // namespace assay::lazarus
