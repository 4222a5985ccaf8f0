// Seconds of the machine's monotonic clock, which all processes of one host share.
#pragma once

#include <chrono>

namespace assay::lazarus {

inline double clock_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace assay::lazarus
