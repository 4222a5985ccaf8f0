#include "suite/gate/night_circumstances.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "suite/compare/matching.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/measure/environment.hpp"

namespace assay::gate {
namespace {

/// What a person can do so that rows are compared again, where accepting is not the first thought:
/// of each key the first that fits.
struct Remedy {
    std::string_view key, part, says;
};
constexpr std::string_view other_machine =
    "another machine has a level of its own (--baseline NAME)";
constexpr Remedy all_remedies[] = {
    {"hardware", "processor", other_machine},
    {"hardware", "cores", other_machine},
    {"hardware", "usable cores",
     "give the night as many processors as it had then (taskset, a container's cpuset)"},
    {"hardware", "quota",
     "give the night the share of processors that it had then (its container)"},
    {"hardware", "gpus", "`nvidia-smi` says which GPUs are there"},
    {"hardware", "memory", other_machine},
    {"library_build_type", "", "build the program as it was then"},
};

/// What rows that are not compared differ in.
class Differences {
  public:
    void add(const compare::Difference& difference) {
        parts_[difference.key].insert(difference.part);
        if (std::string words = said(difference); !words.empty())
            words_[difference.key].insert(std::move(words));
    }

    /// "hardware (usable cores: 2, now 1) and data differ"
    std::string text() const {
        std::vector<std::string> all;
        for (const auto& [key, parts] : parts_) {
            const auto words = words_.find(key);
            all.push_back(words == words_.end()
                              ? key
                              : fmt::format("{} ({})", key, fmt::join(words->second, "; ")));
        }
        return fmt::format("{} {}", fmt::join(all, " and "),
                           all.size() == 1 ? "differs" : "differ");
    }

    /// "build the program as it was then; or "; empty: nothing but accepting.
    std::string remedies() const {
        std::string text;
        std::set<std::string_view> keys;
        for (const Remedy& remedy : all_remedies) {
            const auto key = parts_.find(std::string(remedy.key));
            if (key == parts_.end() || !key->second.contains(std::string(remedy.part)) ||
                !keys.insert(remedy.key).second)
                continue;
            text += fmt::format("{}; ", remedy.says);
        }
        return text.empty() ? "" : text + "or ";
    }

  private:
    /// "usable cores: 2, now 1"; without values where these are hashes or long.
    static std::string said(const compare::Difference& difference) {
        constexpr std::size_t longest = 40;
        const auto& [key, part, before, after] = difference;
        const bool is_hash =
            part.empty() && (key == "hardware" || key == "data" || key == "calibration");
        if (is_hash || before.size() > longest || after.size() > longest) return part;
        return fmt::format("{}{}{}, now {}", part, part.empty() ? "" : ": ", before, after);
    }

    std::map<std::string, std::set<std::string>> parts_, words_;  // by key
};

}  // namespace

std::vector<MachineChange> machine_changes(const nlohmann::json& before,
                                           const nlohmann::json& after) {
    std::vector<MachineChange> changes;
    for (const char* name : measure::machine_suspects) {
        const auto told = [&](const nlohmann::json& suspects) -> std::optional<std::string> {
            const auto found = suspects.is_object() ? suspects.find(name) : suspects.end();
            if (found == suspects.end() || !found->is_string()) return std::nullopt;
            return found->get<std::string>().empty() ? "none" : found->get<std::string>();
        };
        const auto was = told(before), is = told(after);
        if (was && is && *was != *is) changes.push_back({name, *was, *is});
    }
    return changes;
}

std::optional<std::string> scaling_warning(const compare::Arm& baseline,
                                           const compare::Arm& tonight) {
    const auto is_on = [](const compare::Arm& arm) {
        return std::any_of(
            arm.sessions.begin(), arm.sessions.end(), [](const compare::ArmSession& session) {
                return session.warnings.find(compare::scaling_warning) != std::string::npos;
            });
    };
    if (is_on(baseline) == is_on(tonight)) return std::nullopt;
    return is_on(tonight) ? "CPU scaling is on, as the suite's programs say, and was not when the "
                            "level was accepted: times depend on the clock"
                          : "CPU scaling was on when the level was accepted, as the suite's "
                            "programs said, and is not tonight";
}

std::optional<std::string> context_warning(const std::vector<NightRow>& rows,
                                           const std::string& baseline) {
    int count = 0;
    Differences found;
    for (const NightRow& row : rows) {
        const compare::Row& against = row.against_baseline;
        if (row.muted || against.reason_code != compare::Reason::context_differs) continue;
        ++count;
        for (const compare::Difference& difference :
             compare::differences(*against.a, *against.b, {}))
            found.add(difference);
    }
    if (count == 0) return std::nullopt;
    return fmt::format(
        "{} not compared, since {} from the baseline: {}{} makes tonight the new one",
        count == 1 ? "1 row is" : fmt::format("{} rows are", count), found.text(), found.remedies(),
        accept_command(baseline));
}

}  // namespace assay::gate
