#include "suite/data/debian_package.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>

#include "suite/base/process.hpp"
#include "suite/data/catalog.hpp"

namespace assay::data {

ProgramOutput output_of(const std::vector<std::string>& command) {
    ProcessCommand started;
    started.arguments = command;
    started.in = started.err = Stream::null();
    started.out = Stream::pipe();
    try {
        Process process = Process::spawn(started);
        ProgramOutput result{.started = true, .bytes = read_to_end(process.out)};
        const ExitStatus ended = process.wait();
        result.status = ended.code.value_or(128 + ended.signal);
        return result;
    } catch (const CannotStart& error) {
        const int why = error.code().value();
        if (why == ENOENT || why == EACCES) return {};
        throw;
    }
}

std::string without_references(std::string_view verses) {
    std::string text;
    text.reserve(verses.size());
    std::size_t number = 0;
    while (!verses.empty()) {
        ++number;
        const std::size_t end = verses.find('\n');
        const std::string_view line = verses.substr(0, end);
        const std::size_t space = line.find(' ');
        const std::string_view reference = line.substr(0, space);
        if (space == std::string_view::npos || reference.find(':') == std::string_view::npos)
            throw DataError(
                fmt::format("line {}: no verse reference in \"{}\"", number, line.substr(0, 40)));
        text.append(line.substr(space + 1)).push_back('\n');
        verses.remove_prefix(end == std::string_view::npos ? verses.size() : end + 1);
    }
    return text;
}

namespace {

std::string install_advice(const DebianSource& source) {
    return fmt::format("install it with `apt-get install {}` (as root, Debian 12) and repeat",
                       source.package);
}

}  // namespace

std::string out_of_package(const Entry& entry) {
    const DebianSource& source = *entry.debian;
    ProgramOutput output = output_of(source.command);
    if (!output.started)
        throw DataError(
            fmt::format("{}: the program \"{}\" is missing: the Debian package {} is not "
                        "installed; {}",
                        entry.id, source.command[0], source.package, install_advice(source)));
    if (output.status != 0)
        throw DataError(
            fmt::format("{}: \"{}\" failed with status {}: the Debian package {} is "
                        "incomplete or not installed; {}",
                        entry.id, fmt::join(source.command, " "), output.status, source.package,
                        install_advice(source)));
    if (!source.verses) return std::move(output.bytes);
    try {
        return without_references(output.bytes);
    } catch (const DataError& error) {
        throw DataError(fmt::format("{}: output of \"{}\", {}", entry.id,
                                    fmt::join(source.command, " "), error.what()));
    }
}

}  // namespace assay::data
