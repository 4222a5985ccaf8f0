// Durations and sizes as people read them.
#pragma once

#include <string>

namespace assay {

/// "43 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

/// "12 kB", "3.4 MB".
std::string bytes_text(double bytes);

}  // namespace assay
