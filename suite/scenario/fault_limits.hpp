// The ranges of a fault's numbers, and which keys belong to which kind: shared by the flag grammar
// and the TOML reader, so that a file accepts exactly what a flag accepts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "suite/scenario/fault_plan.hpp"

namespace assay {

inline constexpr int largest_rank = 1'000'000;
inline constexpr int largest_count = 10'000;
inline constexpr long largest_step = 1'000'000'000'000;
inline constexpr double longest_s = 1e9;  ///< thirty years

std::optional<FaultKind> parse_fault_kind(std::string_view text);
bool is_fault_phase(std::string_view text);

/// What is wrong with the combination of keys, or an empty text.
std::string combination_error(const Fault& fault, bool count_given);

}  // namespace assay
