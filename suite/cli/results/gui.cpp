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
#include <string>
#include <vector>

#include "suite/base/build_folder.hpp"
#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"

namespace assay::cli {
namespace {

std::string how_to_get_the_window() {
    const std::filesystem::path build = build_folder();
    if (const auto command = build_command(build, {"assay-gui"}))
        return "the window is not built yet: " + *command + " builds it";
    constexpr const char* qt = "Qt 6 (Debian: qt6-base-dev)";
    if (!build.empty())
        return fmt::format(
            "this build has no window, for want of {}: install it, then `cmake {} && cmake --build "
            "{} --target assay-gui`",
            qt, shell_path(build), shell_path(build));
    return fmt::format(
        "there is no assay-gui beside this program or in PATH: build Assay where there is {}, and "
        "install it again",
        qt);
}

/// Becomes assay-gui: the one beside this program, else the first in PATH.
int become_window(const std::vector<std::string>& arguments) {
    const std::filesystem::path beside = program_folder() / "assay-gui";
    std::error_code ignored;
    std::string program = std::filesystem::exists(beside, ignored) ? beside.string() : "assay-gui";
    std::vector<char*> argv{program.data()};
    std::vector<std::string> copies = arguments;
    for (std::string& argument : copies) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::execvp(program.c_str(), argv.data());
    if (errno == ENOENT) throw NotSupportedHere(how_to_get_the_window());
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
