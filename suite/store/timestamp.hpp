// Times as the store writes them.
#pragma once

#include <chrono>
#include <string>

namespace assay::store {

/// "2026-11-21T02:03:04.567Z"
std::string utc(std::chrono::system_clock::time_point at);

}  // namespace assay::store
