// What strikes HeterMoE's training, and what its controller has counted afterwards.
#pragma once

#include <vector>

#include "impls/hetermoe/policy/controller/protocol.hpp"
#include "tests/elastic/scenario.hpp"

namespace assay::hetermoe {

struct ScenarioSettings {
    Group group{2, 2};
    int groups = 1;
    int chunks = 1;
};
using Scenario = elastic::Scenario<ScenarioSettings>;

inline ControllerSettings controller_settings(const ScenarioSettings& settings) {
    return {.layers = 2,
            .experts = 8,
            .group = settings.group,
            .groups = settings.groups,
            .micro_batches = 2,
            .chunks = settings.chunks,
            .times = {.old_attention = 3'000'000},
            .steps = 8,
            .checkpoint_every = 3};
}

/// The first workers are new, the others old: of one group of two each, and of two groups of one
/// each, 0 and 1 are new, 2 and 3 old. In the latter 2 and 3 have the same experts.
inline std::vector<Scenario> scenarios() {
    using enum elastic::Clock;
    using elastic::one_death, elastic::one_retry;
    constexpr ScenarioSettings two{.group = {1, 1}, .groups = 2}, fewer_old{.group = {2, 1}},
        fewer_new{.group = {1, 2}}, all_moved{.group = {1, 1}, .chunks = 8};
    constexpr auto back = [](long steps) {
        return elastic::Counts{.deaths = 1, .discarded = 1, .fallbacks = 1, .rolled_back = steps};
    };
    // clang-format off
    return {
        {simulated, "Nothing", ""},
        {both, "NothingInUnlikeGroups", "", {}, {.group = {1, 2}, .chunks = 2}},
        {simulated, "NothingInTwoGroups", "", {}, two},
        // ---- deaths ---------------------------------------------------------------------------
        {simulated, "KillDuringFirstStep", "kill:rank=1@step=0", one_death, two},
        {simulated, "KillDuringLastStep", "kill:rank=3@step=7", one_death, two},
        {both, "KillOfANewOne", "kill:rank=1@step=4", one_death, two},
        // Its experts are the other group's, too: no checkpoint is read.
        {simulated, "KillOfAnOldOneWithSharedExperts", "kill:rank=2@step=4", one_death, two},
        {both, "KillOfAnOldOneWithTheOnlyExperts", "kill:rank=2@step=5", back(2)},
        {simulated, "KillOfANewOneWithMovedExperts", "kill:rank=0@step=5", back(2)},
        {simulated, "KillOfANewOneWithoutExperts", "kill:rank=0@step=5", one_death, {.chunks = 0}},
        {both, "NoOldOneIsLeft", "kill:rank=2@step=4", back(1), fewer_old},
        {both, "NoNewOneIsLeft", "kill:rank=0@step=5", back(2), fewer_new},
        {simulated, "OneAfterTheOther", "kill:rank=1@step=2; kill:rank=2@step=5",
         {.deaths = 2, .discarded = 2, .fallbacks = 1, .rolled_back = 2}, two},
        {simulated, "KillDuringRegroup",
         "kill:rank=1@step=3; join:count=1@step=4; kill:rank=2,phase=regroup@step=5",
         {.deaths = 2, .joins = 1, .discarded = 1, .fallbacks = 1, .rolled_back = 2}, two},
        {both, "HangForever", "hang:rank=2@step=4", one_death, two},
        {simulated, "ShortHangIsSurvived", "hang:rank=2@step=3,for=0.2"},
        // ---- coming and going -----------------------------------------------------------------
        {simulated, "OrderlyLeave", "stop:rank=3@step=2", {.leaves = 1}},
        {simulated, "Join", "join:count=1@step=2", {.joins = 1}},
        {simulated, "TwoJoinAtOnce", "join:count=2@step=2", {.joins = 2}, two},
        {simulated, "KilledOneIsReplaced", "kill:rank=2@step=2; join:count=1@step=4",
         {.deaths = 1, .joins = 1, .discarded = 1}, two},
        {simulated, "KillOfTheOneThatReplaces",
         "kill:rank=2@step=2; join:count=1@step=4; kill:rank=4@step=6",
         {.deaths = 2, .joins = 1, .discarded = 2}, two},
        {simulated, "KillOfTheJoinerInItsFirstMove",
         "kill:rank=2@step=2; join:count=1@step=4; kill:rank=4,phase=move@step=5",
         {.deaths = 2, .joins = 1, .discarded = 1}, two},
        {both, "KillWhileExpertsMove",
         "join:count=1@step=2; stop:rank=3@step=3; kill:rank=2,phase=move@step=4",
         {.deaths = 1, .joins = 1, .leaves = 1}, two},
        // In two groups: in one, an old worker is in the middle of its step after the new one.
        {simulated, "LeaveAndKillTogether", "stop:rank=3@step=3; kill:rank=0@step=3",
         {.deaths = 1, .leaves = 1, .discarded = 1}, two},
        {simulated, "NoOldOneIsLeftUntilOneJoins", "stop:rank=2@step=2; join:count=1@step=5",
         {.joins = 1, .leaves = 1}, fewer_old},
        // ---- steps and states -----------------------------------------------------------------
        {both, "NotANumber", "nan:rank=1@step=3", one_retry},
        {real, "NotANumberWhereNoBlockIs", "nan:rank=1@step=3", one_retry, all_moved},
        {both, "CorruptMessage", "corrupt:rank=2,target=message@step=3", one_retry},
        {both, "CorruptTensor", "corrupt:rank=2,target=tensor@step=3",
         {.deaths = 1, .discarded = 1, .retries = 1}, two},
        // ---- checkpoints: that before step 6 is torn, or never whole; that before 3 serves ----
        {both, "TornCheckpointIsPassedOver", "torn:rank=2@step=4; kill:rank=2@step=7",
         {.deaths = 1, .discarded = 1, .fallbacks = 2, .rolled_back = 4}},
        {both, "CheckpointThatFoundNoSpaceIsNotUsed", "disk_full:rank=3@step=4; kill:rank=2@step=7",
         back(4)},
        // ---- links ----------------------------------------------------------------------------
        {real, "DelayedLink", "link:rank=1,peer=2,latency=0.02,bandwidth=1e6@step=3,for=0.3"},
        {real, "LossyLink", "link:rank=2,loss=0.2@step=3,for=0.3"},
        {real, "CutThatHeals", "link:rank=1,cut=1@step=3,for=0.2"},
        {real, "CutForGood", "link:rank=2,cut=1@step=3",
         {.deaths = 1, .discarded = 1, .evictions = 1}, two},
    };
    // clang-format on
}

}  // namespace assay::hetermoe
