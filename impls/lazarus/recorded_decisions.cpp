#include "impls/lazarus/recorded_decisions.hpp"

#include <string>

#include "impls/lazarus/policy/controller/protocol_json.hpp"
#include "suite/drive/recording.hpp"

namespace assay::lazarus {
namespace {

constexpr std::string_view policy = "lazarus/controller";

}  // namespace

void store_decisions(Recorder& recorder, const ControllerConfig& config,
                     const std::vector<drive::Decision<Controller>>& decisions,
                     std::string_view clock) {
    std::string name = "decisions";
    if (!clock.empty()) name.append("_").append(clock);
    recorder.artifact(name + ".jsonl", recorded_decisions,
                      drive::recording_text(policy, config, decisions));
}

PolicyReplay replay_controller(std::istream& recording) {
    return drive::replay_policy<Controller, ControllerConfig>(recording, policy);
}

}  // namespace assay::lazarus
