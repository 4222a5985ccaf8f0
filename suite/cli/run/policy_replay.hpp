// assay replay ID --policy: whether a system's policy still decides what it decided in a sample.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "suite/cli/command.hpp"
#include "suite/experiment/policy_replay.hpp"
#include "suite/store/records.hpp"

namespace assay::cli {

struct ReplayedRecording {
    std::string name;  ///< of the artifact
    PolicyReplay replay;
};

/// The recordings of a sample, each told to a new policy. Throws UserError where the sample has
/// none, where its system has no policy, and for what is no recording of it.
std::vector<ReplayedRecording> replay_policy(const Registry& registry, const store::Sample& sample);

/// exit_ambiguous: nothing was decided.
ExitCode verdict(const std::vector<ReplayedRecording>& recordings);

/// {"id","agrees","recordings":[{"name","decisions","agrees","difference"}]}; difference: null or
/// {"decision" (from 1),"now_s","event","recorded","now","throws","says"}
nlohmann::json to_json(const std::vector<ReplayedRecording>& recordings, const std::string& id);

std::string to_text(const std::vector<ReplayedRecording>& recordings);

}  // namespace assay::cli
