// How the command line is read, beyond what CLI11 does by itself.
#pragma once

#include <string>
#include <vector>

#include "suite/experiment/system.hpp"

namespace CLI {
class App;
}

namespace assay::cli {

/// Commands that `--help` shows.
std::vector<std::string> visible_subcommands(const CLI::App& app);

/// "`assay` has no 'rum'; did you mean 'run'? known: …"
std::string unknown_command_sentence(const std::string& path, const std::string& typed,
                                     const std::vector<std::string>& names);

/// The arguments, "help COMMAND…" as "COMMAND… --help". Throws UserError where there is no such
/// command.
std::vector<char*> without_help_command(const CLI::App& program, int argc, char** argv);

/// CLI::App::parse(), to which "1e3" is a whole number, too.
void parse(CLI::App& program, int argc, const char* const* argv);

/// What may stand in place of the last of `words`, one per line, for the completions of shells
/// (scripts/completions); `words` follow the program's name. Empty: nothing but files.
std::string completions(const CLI::App& program, const Registry& registry,
                        const std::vector<std::string>& words);

/// assay(1): what --help says of the program and of each command.
std::string man_page(CLI::App& program);

}  // namespace assay::cli
