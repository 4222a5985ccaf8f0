// A command line as text that a shell reads back.
#pragma once

#include <string>
#include <string_view>

namespace assay::cli {

/// Quotes only where a shell would need it.
std::string shell_quoted(std::string_view word);
std::string shell_quoted(int argc, const char* const* argv);

}  // namespace assay::cli
