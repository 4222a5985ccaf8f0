// Base64 (RFC 4648, with padding), for bytes inside JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

std::string to_base64(std::string_view bytes);

/// nullopt: not base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace assay
