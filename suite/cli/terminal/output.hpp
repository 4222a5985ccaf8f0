// What a command leaves: JSON on standard output, and whole files, with errors that say what is
// wrong.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace assay::cli {

/// Standard output (is_standard_output()), printable() if it is a terminal. A file appears whole,
/// in place of one of that name, or not at all; its folder must be there. Devices, pipes and open
/// files
/// (/dev/fd/3) are written to as they are. Throws UserError.
void write_output(const std::filesystem::path& file, std::string_view content);

/// "-" and the names that the system has for it.
bool is_standard_output(const std::filesystem::path& file);

/// Options, and whether each writes to standard output: UserError where two do, before anything is
/// computed; a reader could not tell their texts apart.
void expect_one_on_standard_output(
    std::initializer_list<std::pair<std::string_view, bool>> options);

/// The ending of a file that is to be written, in lower case with its dot: ".svg". Empty for "-",
/// devices, pipes, and names without one ("results", "night-2026.11").
std::string ending_of(const std::filesystem::path& file);

/// Refuses, before anything is computed, a name whose ending promises another content than these:
/// UserError that says which there are, and how to get a picture of another kind. `option`: "-o".
void expect_ending(std::string_view option, const std::filesystem::path& file,
                   std::initializer_list<std::string_view> endings);

/// The innermost folder around the file that is there already; not a folder where a file is in the
/// way.
std::filesystem::path existing_folder(const std::filesystem::path& file);

/// Before hours of work: UserError, naming the option, when a file could not be written there.
/// Its folder must be there. Leaves nothing behind. An empty path is none.
void check_output(const std::string& option, const std::filesystem::path& file);

/// On standard output, indented, with a newline at the end.
void print_json(const nlohmann::json& value);

/// One line, flushed: for streams that somebody follows.
void print_json_line(const nlohmann::json& value);

}  // namespace assay::cli
