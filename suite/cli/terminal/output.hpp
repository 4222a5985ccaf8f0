// What a command leaves: JSON on standard output, and whole files, with errors that say what is
// wrong.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace assay::cli {

/// "-": standard output, printable() if it is a terminal. A file appears at once, by a rename;
/// missing folders are made, which is said on standard error. Throws UserError.
void write_output(const std::filesystem::path& file, std::string_view content);

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
/// Leaves nothing behind. An empty path is none.
void check_output(const std::string& option, const std::filesystem::path& file);

/// On standard output, indented, with a newline at the end.
void print_json(const nlohmann::json& value);

/// One line, flushed: for streams that somebody follows.
void print_json_line(const nlohmann::json& value);

}  // namespace assay::cli
