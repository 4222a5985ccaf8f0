#include "suite/cli/terminal/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "suite/base/durable_file.hpp"
#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::cli {
namespace {

/// A file that is open already, by its number: where it leads to is not to be replaced.
bool is_open_file(const std::filesystem::path& file) {
    return file == "/dev/stdout" || file == "/dev/stderr" || file.parent_path() == "/dev/fd" ||
           file.parent_path() == "/proc/self/fd";
}

/// A device or pipe (/dev/null, /dev/fd/3) is written to as it is.
bool is_special(const std::filesystem::path& file) {
    std::error_code error;
    return is_open_file(file) ||
           (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error));
}

/// A link to a file stays one: what it leads to is replaced.
std::filesystem::path where_it_leads(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::is_symlink(file, error)) return file;
    const std::filesystem::path real = std::filesystem::weakly_canonical(file, error);
    return error ? file : real;
}

/// Throws std::filesystem::filesystem_error.
void fill(const std::filesystem::path& file, std::string_view content, std::ios::openmode how) {
    errno = 0;
    std::ofstream out(file, std::ios::binary | how);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (!out)
        throw std::filesystem::filesystem_error("cannot write", file,
                                                std::error_code(errno, std::generic_category()));
}

/// Pictures that other programs make of an SVG.
bool is_other_picture(std::string_view ending) {
    constexpr std::string_view pictures[] = {".png",  ".jpg", ".jpeg", ".gif",
                                             ".webp", ".pdf", ".eps",  ".ps"};
    return std::find(std::begin(pictures), std::end(pictures), ending) != std::end(pictures);
}

std::string picture_advice(const std::filesystem::path& file, const std::string& ending) {
    const std::filesystem::path svg = std::filesystem::path(file).replace_extension(".svg");
    return fmt::format(
        "; for a picture, write the .svg that {} draws and turn it into {} with `rsvg-convert -f "
        "{} {} -o {}` (Debian package librsvg2-bin)",
        suggested("report EXPERIMENT -o " + shell_quoted(svg.string())), ending, ending.substr(1),
        shell_quoted(svg.string()), shell_quoted(file.string()));
}

}  // namespace

std::string ending_of(const std::filesystem::path& file) {
    if (is_standard_output(file) || is_special(file)) return {};
    std::string ending = file.extension().string();
    if (ending.size() < 2 || std::isalpha(static_cast<unsigned char>(ending[1])) == 0) return {};
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return ending;
}

void expect_ending(std::string_view option, const std::filesystem::path& file,
                   std::initializer_list<std::string_view> endings) {
    const std::string ending = ending_of(file);
    if (ending.empty() || std::find(endings.begin(), endings.end(), ending) != endings.end())
        return;
    throw UserError(fmt::format("{} {}: this is written as {}{}, not as {}{}", option,
                                file.string(), endings.size() > 1 ? "one of " : "",
                                fmt::join(endings, ", "), ending,
                                is_other_picture(ending) ? picture_advice(file, ending) : ""));
}

bool is_standard_output(const std::filesystem::path& file) {
    return file == "-" || file == "/dev/stdout" || file == "/dev/fd/1" || file == "/proc/self/fd/1";
}

void expect_one_on_standard_output(
    std::initializer_list<std::pair<std::string_view, bool>> options) {
    std::string_view first;
    for (const auto& [option, writes] : options) {
        if (!writes) continue;
        if (!first.empty())
            throw UserError(fmt::format(
                "{} and {} both write to standard output: give one of them a file, or leave it out",
                first, option));
        first = option;
    }
}

void write_output(const std::filesystem::path& file, std::string_view content) {
    namespace fs = std::filesystem;
    if (is_standard_output(file)) {
        // A file keeps names as they are; a terminal would obey what some of them hold.
        if (::isatty(STDOUT_FILENO) != 0)
            std::cout << report::printable(content, "\n");
        else
            write_as_is(std::cout, content);
        return;
    }
    const bool special = is_special(file);
    const fs::path real = special ? file : where_it_leads(file);
    fs::path part = real;
    part += fmt::format(".{}.part", ::getpid());
    try {
        if (special) return fill(file, content, std::ios::app);
        if (const std::string trouble = missing_folder(real); !trouble.empty())
            throw UserError(fmt::format("cannot write {}: {}", file.string(), trouble));
        fill(part, content, std::ios::trunc);
        publish(part, real);
    } catch (const fs::filesystem_error& failure) {
        std::error_code not_there;
        if (!special) fs::remove(part, not_there);
        throw UserError(
            fmt::format("cannot write {}: {}", file.string(), failure.code().message()));
    }
}

std::filesystem::path existing_folder(const std::filesystem::path& file) {
    std::error_code error;
    std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
    while (!std::filesystem::exists(folder, error) && folder != folder.parent_path())
        folder = folder.parent_path();
    return folder;
}

void check_output(const std::string& option, const std::filesystem::path& file) {
    namespace fs = std::filesystem;
    if (file.empty() || is_standard_output(file)) return;
    const auto refuse = [&](const std::string& why) {
        throw UserError(fmt::format("{} {}: {}", option, file.string(), why));
    };
    std::error_code error;
    if (fs::is_directory(file, error)) refuse("that is a folder; give a file in it");
    if (!file.has_filename()) refuse("give the name of a file");
    if (is_special(file)) {
        if (::access(file.c_str(), W_OK) != 0) refuse(std::strerror(errno));
        return;
    }
    const fs::path real = where_it_leads(file);
    if (const std::string trouble = missing_folder(real); !trouble.empty()) refuse(trouble);
    const fs::path folder = fs::absolute(real).parent_path();
    // Tried, since rights alone do not tell: a folder may be of another kind (/proc), or read-only.
    std::string probe = (folder / ".assay-XXXXXX").string();
    if (::mkdtemp(probe.data()) == nullptr)
        refuse(fmt::format("cannot write {}: nothing can be made in {}: {}", file.string(),
                           folder.string(), std::strerror(errno)));
    ::rmdir(probe.c_str());
}

void print_json(const nlohmann::json& value) {
    std::cout << report::printable_dump(value, 2) << '\n';
}

void print_json_line(const nlohmann::json& value) {
    std::cout << report::printable_dump(value, -1) << '\n' << std::flush;
}

}  // namespace assay::cli
