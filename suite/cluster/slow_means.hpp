// By what a slowed worker is kept from running.
#pragma once

#include <optional>
#include <string_view>

namespace assay::cluster {

enum class SlowMeans { quota, duty_cycle };

constexpr std::string_view to_string(SlowMeans means) {
    return means == SlowMeans::quota ? "quota" : "duty_cycle";
}

/// Empty for any other text.
constexpr std::optional<SlowMeans> slow_means_from(std::string_view text) {
    for (const auto means : {SlowMeans::quota, SlowMeans::duty_cycle})
        if (to_string(means) == text) return means;
    return std::nullopt;
}

}  // namespace assay::cluster
