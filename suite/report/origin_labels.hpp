// What sets samples of several machines, calibrations or data sets apart, where a line or a median
// would otherwise take them together.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "suite/store/records.hpp"

namespace assay::report {

/// Short hashes; each empty where it sets nothing apart.
struct OriginLabel {
    std::string machine, calibration, data;
    std::string text() const;  ///< "machine 1a2b3c4d · calibration 5e6f7a8b"
};

/// A label for each sample. The machine is told wherever there are several; calibration and data
/// where samples of one machine with an equal `group` are not comparable (comparable_sets()).
std::vector<OriginLabel> origin_labels(
    std::span<const store::Sample> samples,
    const std::function<std::string(const store::Sample&)>& group);

/// A group for origin_labels(): all that was asked for but the variant and the axis `left_out`.
std::string asked_for(const store::Sample&, const std::string& left_out = "");

}  // namespace assay::report
