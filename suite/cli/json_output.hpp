// Prints JSON on standard output: what other programs read.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace assay::cli {

/// Indented, with a newline at the end.
void print_json(const nlohmann::json& value);

/// One line, flushed: for streams that somebody follows.
void print_json_line(const nlohmann::json& value);

}  // namespace assay::cli
