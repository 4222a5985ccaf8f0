#include "suite/runner/versus/versus.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <string_view>

#include "suite/base/error.hpp"
#include "suite/base/process.hpp"
#include "suite/measure/build_info.hpp"
#include "suite/measure/environment.hpp"

namespace assay::runner {
namespace {

constexpr std::size_t most_version_bytes = 64 << 10;
constexpr std::chrono::seconds version_patience{10};

/// What it prints on standard output; its standard error is thrown away, and whatever of it still
/// runs is killed.
std::string version_output(const std::string& executable) {
    ProcessCommand command;
    command.program = executable;
    command.arguments = {"assay", "--version"};
    command.in = command.err = Stream::null();
    command.out = Stream::pipe();
    try {
        Process process = Process::spawn(command);
        return read_to_end(process.out, most_version_bytes, version_patience);
    } catch (const CannotStart&) {
        return {};
    }
}

/// The rest of the line that begins with `name` or holds ", NAME"; up to the next comma.
std::string after(std::string_view text, std::string_view name) {
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = text.substr(at + name.size());
    return std::string(rest.substr(0, rest.find_first_of(",\n")));
}

std::string build_type_of(std::string_view text, std::string_view compiler) {
    return compiler.empty() ? "" : after(text, fmt::format("built by {}, ", compiler));
}

}  // namespace

ProgramIdentity parse_version(const std::string& text, const std::string& executable) {
    ProgramIdentity program;
    program.executable = executable;
    program.build = after(text, "\nbuild id ");
    const bool is_hex = program.build.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!text.starts_with("assay ") || program.build.size() < 16 || !is_hex)
        throw UserError(
            fmt::format("{} is no build of this program: `{} --version` names no build id",
                        executable, executable));
    const std::string compiler = after(text, "\nbuilt by ");
    program.suspects = {{"version", after(text, "assay ")},
                        {"commit", after(text, ", commit ")},
                        {"compiler", compiler},
                        {"build_type", build_type_of(text, compiler)},
                        {"torch", after(text, ", with libtorch ")}};
    return program;
}

ProgramIdentity this_program() {
    constexpr const char* self = "/proc/self/exe";
    // Rebuilt or removed since it was started, it can still be started by this name.
    std::error_code error;
    const std::filesystem::path file = std::filesystem::read_symlink(self);
    const bool is_there = std::filesystem::equivalent(file, self, error) && !error;
    return {is_there ? file.string() : self, measure::build_id(),
            measure::suspects(measure::read_environment())};
}

ProgramIdentity ask_program(const std::filesystem::path& executable) {
    std::error_code error;
    const std::string path = std::filesystem::absolute(executable, error).string();
    if (!std::filesystem::is_regular_file(path, error))
        throw UserError(fmt::format("{}: no such program", executable.string()));
    if (::access(path.c_str(), X_OK) != 0)
        throw UserError(fmt::format("{} cannot be executed: chmod +x it", executable.string()));
    ProgramIdentity program = parse_version(version_output(path), path);
    nlohmann::json suspects = measure::suspects(measure::read_environment());
    suspects.erase("flags");  // the other program does not tell
    suspects.update(program.suspects);
    program.suspects = std::move(suspects);
    return program;
}

}  // namespace assay::runner
