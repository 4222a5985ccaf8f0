// assay gui: the window, a program of its own, so that this one needs no Qt.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"

namespace assay::cli {
namespace {

/// Becomes assay-gui: the one beside this program, else the first in PATH.
int become_window(const std::vector<std::string>& arguments) {
    std::error_code error;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::filesystem::path beside = self.parent_path() / "assay-gui";
    std::string program = !error && std::filesystem::exists(beside) ? beside.string() : "assay-gui";
    std::vector<char*> argv{program.data()};
    std::vector<std::string> copies = arguments;
    for (std::string& argument : copies) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::execvp(program.c_str(), argv.data());
    if (errno == ENOENT)
        throw NotSupportedHere(
            "there is no assay-gui beside this program or in PATH: install Qt 6 (Debian: "
            "qt6-base-dev), configure and build again");
    throw UserError(fmt::format("assay-gui cannot be started: {}", std::strerror(errno)));
}

}  // namespace

void add_gui_command(CLI::App& program, Context& context) {
    CLI::App* command =
        program.add_subcommand("gui", "Every result in one window, as it is written");
    command->group("Results");
    command->prefix_command();
    command->set_help_flag();  // the window's own
    command->callback([command, &context] {
        context.action = [arguments = command->remaining()] { return become_window(arguments); };
    });
}

}  // namespace assay::cli
