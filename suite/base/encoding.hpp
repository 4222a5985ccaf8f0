// Text that other programs read back: base64, CSV, numbers of JSON, words of a shell.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// RFC 4648, with padding: bytes inside JSON.
std::string to_base64(std::string_view bytes);

/// nullopt: not base64.
std::optional<std::string> from_base64(std::string_view text);

/// One line of comma-separated values (RFC 4180): fields quoted where they must be, with a newline
/// at the end.
std::string csv_line(const std::vector<std::string>& fields);

/// JSON knows neither NaN nor infinities. null: not there, or not finite.
nlohmann::json finite_or_null(double value);
nlohmann::json finite_or_null(const std::optional<double>& value);

/// A command line, quoted only where a shell would need it.
std::string shell_quoted(std::string_view word);
std::string shell_quoted(int argc, const char* const* argv);

}  // namespace assay
