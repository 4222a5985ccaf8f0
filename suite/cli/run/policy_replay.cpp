#include "suite/cli/run/policy_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"

namespace assay::cli {
namespace {

bool all_agree(const std::vector<ReplayedRecording>& recordings) {
    return std::all_of(recordings.begin(), recordings.end(),
                       [](const ReplayedRecording& one) { return one.replay.agrees(); });
}

nlohmann::json to_json(const PolicyReplay::Difference& difference) {
    return {{"decision", difference.decision + 1},
            {"now_s", difference.now_s},
            {"event", difference.event},
            {"recorded", difference.recorded},
            {"now", difference.now},
            {"throws", difference.threw ? nlohmann::json(*difference.threw) : nlohmann::json()},
            {"says", explanation(difference)}};
}

}  // namespace

std::vector<ReplayedRecording> replay_policy(const Registry& registry,
                                             const store::Sample& sample) {
    const std::string& experiment = sample.spec.experiment;
    const System* system = registry.system(experiment.substr(0, experiment.find('/')));
    if (system == nullptr)
        throw UserError(fmt::format("sample {} is of {}, whose system this build does not have",
                                    sample.id, experiment));
    if (!system->replay_policy)
        throw UserError(fmt::format(
            "{} has no policy that could be replayed; without --policy the whole sample is",
            system->id));
    std::vector<ReplayedRecording> recordings;
    for (const store::Artifact& artifact : sample.artifacts) {
        if (artifact.media_type != recorded_decisions) continue;
        std::istringstream text(artifact.bytes);
        recordings.push_back({artifact.name, system->replay_policy(text)});
    }
    if (recordings.empty())
        throw UserError(fmt::format(
            "no decisions are recorded in sample {}: either its build did not record any yet, or "
            "{} "
            "never does. Run it again with this build ({}), and replay the new sample",
            sample.id, experiment, suggested("run " + experiment)));
    return recordings;
}

ExitCode verdict(const std::vector<ReplayedRecording>& recordings) {
    if (!all_agree(recordings)) return exit_regression;
    const bool any =
        std::any_of(recordings.begin(), recordings.end(),
                    [](const ReplayedRecording& one) { return one.replay.decisions > 0; });
    return any ? exit_ok : exit_ambiguous;
}

nlohmann::json to_json(const std::vector<ReplayedRecording>& recordings, const std::string& id) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [name, replay] : recordings)
        list.push_back(
            {{"name", name},
             {"decisions", replay.decisions},
             {"agrees", replay.agrees()},
             {"difference", replay.difference ? to_json(*replay.difference) : nlohmann::json()}});
    return {{"id", id}, {"agrees", all_agree(recordings)}, {"recordings", std::move(list)}};
}

std::string to_text(const std::vector<ReplayedRecording>& recordings) {
    std::string text;
    for (const auto& [name, replay] : recordings) {
        const std::string which = recordings.size() > 1 ? name + ": " : "";
        if (replay.decisions == 0)
            text += which + "nothing was decided\n";
        else if (replay.agrees())
            text += fmt::format("{}{} decisions, all the same\n", which, replay.decisions);
        else
            text += fmt::format("{}of {} decisions, the first that comes out otherwise is\n{}\n",
                                which, replay.decisions, explanation(*replay.difference));
    }
    return text;
}

}  // namespace assay::cli
