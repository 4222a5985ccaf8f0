// Whether the code that decides still decides as it did when a sample was made: what comes of
// telling it once more of what it was told then (suite/drive/recording.hpp).
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// Media type of the artifacts of a sample that are recorded decisions.
inline constexpr std::string_view recorded_decisions = "application/vnd.assay.decisions+jsonl";

struct PolicyReplay {
    /// The first decision that comes out otherwise.
    struct Difference {
        std::size_t decision = 0;  ///< its place, from 0
        double now_s = 0;
        nlohmann::json event;          ///< {"type":…}: what the policy was told
        nlohmann::json recorded, now;  ///< lists of {"type":…}: what it asked for then, and now
        std::optional<std::string> threw;  ///< what() of what it throws now
    };
    std::size_t decisions = 0;  ///< all that are recorded
    std::optional<Difference> difference;

    bool agrees() const { return !difference.has_value(); }
};

/// "decision 413, at 1234.5 s, on died {"worker":3}: …": which action differs, and in what.
std::string explanation(const PolicyReplay::Difference& difference);

}  // namespace assay
