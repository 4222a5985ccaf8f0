// What the paper's rates imply for the cost model, for people and as JSON: `assay calibrate lazarus
// --anchors`.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/lazarus/spot/anchors.hpp"

namespace assay::lazarus {

/// Of one anchor, the shares of the profile being as they are.
struct ImpliedOverlap {
    Anchor anchor;
    double rate_without = 0, rate_with_all = 0;  ///< at overlap 0 and 1
    double overlap = 0;                          ///< that meets it; outside 0 to 1: none does
};

/// What meets the anchors at one overlap; absent where nothing does.
struct MeetingShares {
    double overlap = 0;
    std::vector<std::optional<double>> matmul, link;  ///< [anchor], the other share as it is
    std::optional<Shares> both;                       ///< meeting all anchors
};

struct AnchorFindings {
    Shares shipped;
    std::vector<ImpliedOverlap> implied;
    std::vector<MeetingShares> curve;  ///< at overlap 0, ¼, ½, ¾, 1
};

/// Takes a moment. `trainings`: two, of which both shares together are asked for.
AnchorFindings find_implied(const std::vector<AnchoredTraining>& trainings);

std::string to_text(const AnchorFindings&, std::size_t columns);
nlohmann::json to_json(const AnchorFindings&);

}  // namespace assay::lazarus
