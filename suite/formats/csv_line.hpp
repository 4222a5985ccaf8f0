// One line of comma-separated values (RFC 4180).
#pragma once

#include <string>
#include <vector>

namespace assay {

/// Fields quoted where they must be, with a newline at the end.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace assay
