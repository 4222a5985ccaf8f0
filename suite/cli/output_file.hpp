// Writing a whole file, or standard output, with an error that says what is wrong.
#pragma once

#include <filesystem>
#include <string_view>

namespace assay::cli {

/// "-": standard output, printable() if it is a terminal. A file appears at once, by a rename;
/// missing folders are made. Throws UserError.
void write_output(const std::filesystem::path& file, std::string_view content);

}  // namespace assay::cli
