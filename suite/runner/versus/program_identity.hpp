// Another build of this program, and what it says about itself.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace assay::runner {

struct ProgramIdentity {
    std::string executable;   ///< absolute path
    std::string build;        ///< build id
    nlohmann::json suspects;  ///< as measure::suspects() gives them, with what differs by program
};

/// The running program.
ProgramIdentity this_program();

/// Asks the program with --version; ten seconds at most. Throws UserError: it is not there, cannot
/// be executed, or does not answer as this program does.
ProgramIdentity ask_program(const std::filesystem::path& executable);

/// Reads what --version printed into build id and suspects; the machine's suspects stay empty.
/// Throws UserError, naming `executable`, where there is no build id.
ProgramIdentity parse_version(const std::string& text, const std::string& executable);

}  // namespace assay::runner
