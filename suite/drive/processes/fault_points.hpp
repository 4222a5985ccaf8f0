// Where a worker waits for faults that are keyed by a step, so that each strikes at exactly that
// point.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/drive/fault_effects.hpp"

namespace assay::drive {

struct FaultPoint {
    std::string phase;
    long step = 0;  ///< phases that are not of a step: of the first that comes at or after it
};

/// Those of one worker that faults have been planned for.
class FaultPoints {
  public:
    /// FaultDriver::points_for().
    explicit FaultPoints(const nlohmann::json& points) {
        for (const auto& point : points) points_.push_back({point.at("phase"), point.at("step")});
    }
    /// Whether to wait here; then not again.
    bool reach(const std::string& phase, long step) {
        const bool exact = is_of_step(phase);
        const auto reached = std::find_if(points_.begin(), points_.end(), [&](const auto& point) {
            return point.phase == phase && (exact ? point.step == step : point.step <= step);
        });
        if (reached == points_.end()) return false;
        points_.erase(reached);
        return true;
    }

  private:
    std::vector<FaultPoint> points_;
};

}  // namespace assay::drive
