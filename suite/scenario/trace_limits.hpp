// How large an availability trace may be: a mistyped number must not fill the memory.
#pragma once

#include <cstddef>

namespace assay {

inline constexpr std::size_t most_trace_events = 1'000'000;
inline constexpr int most_trace_nodes = 10'000;          ///< alive at once
inline constexpr double longest_trace_s = 1e9;           ///< as fault plans
inline constexpr double longest_generated_h = 24 * 366;  ///< a year

}  // namespace assay
