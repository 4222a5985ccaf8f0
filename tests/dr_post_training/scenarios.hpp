// What strikes a guarded training of 8 steps with a checkpoint after every second, and what its
// guard has counted afterwards.
#pragma once

#include <variant>
#include <vector>

#include "tests/elastic/scenario.hpp"

namespace assay::dr_post_training {

struct ScenarioCounts {
    long redone = 0;      ///< steps whose numbers were not finite
    long restored = 0;    ///< workers whose state was damaged
    long restarted = 0;   ///< workers that replaced another
    long repeated = 0;    ///< stored steps
    long unwritten = 0;   ///< checkpoints
    long unreadable = 0;  ///< checkpoints
    bool operator==(const ScenarioCounts&) const = default;
};
ASSAY_FIELDS(ScenarioCounts, redone, restored, restarted, repeated, unwritten, unreadable)
inline std::ostream& operator<<(std::ostream& out, const ScenarioCounts& counts) {
    return out << drive::to_json(counts);
}

using Scenario = elastic::Scenario<std::monostate, ScenarioCounts>;

inline std::vector<Scenario> scenarios() {
    using enum elastic::Clock;
    // clang-format off
    return {
        {simulated, "Nothing", ""},
        // The newest checkpoint is that before step 4: step 4 goes again.
        {both, "Kill", "kill:rank=0@step=5", {.restarted = 1, .repeated = 1}},
        {simulated, "KillDuringFirstStep", "kill:rank=0@step=0", {.restarted = 1}},
        {simulated, "KillDuringLastStep", "kill:rank=0@step=7", {.restarted = 1, .repeated = 1}},
        {simulated, "OneAfterTheOther", "kill:rank=0@step=3; kill:rank=1@step=5",
         {.restarted = 2, .repeated = 2}},
        {simulated, "HangForever", "hang:rank=0@step=3", {.restarted = 1, .repeated = 1}},
        {both, "ShortHangIsSurvived", "hang:rank=0@step=3,for=0.1"},
        {both, "NotANumber", "nan:rank=0@step=3", {.redone = 1}},
        {simulated, "NotANumberInTwoSteps", "nan:rank=0@step=3; nan:rank=0@step=4", {.redone = 2}},
        {both, "CorruptTensor", "corrupt:rank=0,target=tensor@step=4", {.restored = 1}},
        {simulated, "CorruptTensorAfterAStep", "corrupt:rank=0,target=tensor@step=5",
         {.restored = 1, .repeated = 1}},
        {both, "FullDisk", "disk_full:rank=0@step=1", {.unwritten = 1}},
        {simulated, "CheckpointThatFoundNoSpaceIsNotUsed",
         "disk_full:rank=0@step=3; kill:rank=0@step=5",
         {.restarted = 1, .repeated = 3, .unwritten = 1}},
        {both, "TornCheckpointIsPassedOver", "torn:rank=0@step=3; kill:rank=0@step=5",
         {.restarted = 1, .repeated = 3, .unreadable = 1}},
    };
    // clang-format on
}

}  // namespace assay::dr_post_training
