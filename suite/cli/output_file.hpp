// Writing a whole file, or standard output, with an error that says what is wrong.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace assay::cli {

/// "-": standard output. A file appears at once, by a rename; missing folders are made, which is
/// said on standard error. Throws UserError.
void write_output(const std::filesystem::path& file, std::string_view content);

/// Before hours of work: UserError, naming the option, when a file could not be written there.
/// Makes nothing. An empty path is none.
void check_output(const std::string& option, const std::filesystem::path& file);

}  // namespace assay::cli
