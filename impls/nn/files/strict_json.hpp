// JSON of files from elsewhere: a key given twice, or nesting so deep that handling the value could
// exhaust the stack, is refused.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace assay::nn {

/// Throws UserError "FILE: …".
nlohmann::json strict_json(std::string_view file, std::string_view text);

}  // namespace assay::nn
