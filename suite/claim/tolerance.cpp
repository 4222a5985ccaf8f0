#include "suite/claim/tolerance.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace assay {

std::string tolerance_text(const Claim& claim) {
    constexpr double rounding_only = 1e-6;
    const std::string& test = claim.test.name;
    const double relative = claim.relative.value_or(0), absolute = claim.absolute.value_or(0);
    // The wider counts.
    const bool of_value =
        relative > 0 && (!claim.value || relative * std::abs(*claim.value) >= absolute);
    const std::string size = of_value                   ? fmt::format("{:.3g} %", 100 * relative)
                             : absolute > rounding_only ? fmt::format("{:.4g}", absolute)
                                                        : "";
    if (claim.test.custom())
        return fmt::format("({}{}{})", test.substr(std::string_view("custom:").size()),
                           size.empty() ? "" : ", ", size);
    if (size.empty() || test == "greater") return {};
    return (test == "at_least" ? "− " : test == "at_most" ? "+ " : "± ") + size;
}

std::string value_text(const Claim& claim) {
    const std::string value = claim.value ? fmt::format("{:.4g}", *claim.value) : "";
    const std::string tolerance = tolerance_text(claim);
    return value.empty() || tolerance.empty() ? value + tolerance : value + ' ' + tolerance;
}

std::string wanted_text(const Claim& claim) {
    const std::string value = value_text(claim);
    const std::string& test = claim.test.name;
    if (test == "at_least") return "at least " + value;
    if (test == "at_most") return "at most " + value;
    if (test == "greater") return claim.value ? "more than " + value : "more";
    return value;
}

}  // namespace assay
