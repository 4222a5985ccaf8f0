#include "suite/cli/terminal/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::cli {
namespace {

/// A device or pipe (/dev/null, /dev/fd/3) is written to as it is.
bool is_special(const std::filesystem::path& file) {
    std::error_code error;
    return std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error);
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
        "; for a picture, write the .svg that `assay report EXPERIMENT -o {}` draws and turn it "
        "into {} with `rsvg-convert -f {} {} -o {}` (Debian package librsvg2-bin)",
        svg.string(), ending, ending.substr(1), svg.string(), file.string());
}

/// The same JSON with "\u202e" instead of what a terminal must not get; JSON itself asks only for
/// the lowest control characters to be written so.
std::string text_of(const nlohmann::json& value, int indent) {
    const std::string dumped =
        value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
    std::string out;
    out.reserve(dumped.size());
    for (std::size_t at = 0; at < dumped.size();) {
        const report::CodePoint c = report::code_point(dumped, at);
        const auto code = static_cast<std::uint32_t>(c.value);
        if (c.value == '\n' || report::is_printable(c))
            out.append(dumped, at, c.bytes);
        else if (code < 0x10000)
            out += fmt::format("\\u{:04x}", code);
        else
            out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((code - 0x10000) >> 10),
                               0xdc00 + ((code - 0x10000) & 0x3ff));
        at += c.bytes;
    }
    return out;
}

}  // namespace

std::string ending_of(const std::filesystem::path& file) {
    if (file == "-" || is_special(file)) return {};
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

void write_output(const std::filesystem::path& file, std::string_view content) {
    if (file == "-") {
        // A file keeps names as they are; a terminal would obey what some of them hold.
        if (::isatty(STDOUT_FILENO) != 0)
            std::cout << report::printable(content, "\n");
        else
            std::cout << content;
        return;
    }
    std::error_code error;
    const bool special = is_special(file);
    if (file.has_parent_path() && std::filesystem::create_directories(file.parent_path(), error))
        std::cerr << fmt::format("made the folder {}\n", file.parent_path().string());
    std::filesystem::path part = file;
    if (!special) part += fmt::format(".{}.part", ::getpid());
    errno = 0;
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (out && !special) std::filesystem::rename(part, file, error);
    if (!out || error) {
        const std::string why = error ? error.message() : std::strerror(errno);
        if (!special) std::filesystem::remove(part, error);
        throw UserError(fmt::format("cannot write {}: {}", file.string(), why));
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
    if (file.empty() || file == "-") return;
    const auto refuse = [&](const std::string& why) {
        throw UserError(fmt::format("{} {}: {}", option, file.string(), why));
    };
    std::error_code error;
    if (fs::is_directory(file, error)) refuse("that is a folder; give a file in it");
    if (!file.has_filename()) refuse("give the name of a file");
    if (fs::exists(file, error) && !fs::is_regular_file(file, error)) {
        if (::access(file.c_str(), W_OK) != 0) refuse(std::strerror(errno));
        return;
    }
    const fs::path folder = existing_folder(file);  // the rest is made
    if (!fs::is_directory(folder, error))
        refuse(fmt::format("{} is a file, not a folder", folder.string()));
    // Tried, since rights alone do not tell: a folder may be of another kind (/proc), or read-only.
    std::string probe = (folder / ".assay-XXXXXX").string();
    if (::mkdtemp(probe.data()) == nullptr)
        refuse(fmt::format("cannot write {}: nothing can be made in {}: {}", file.string(),
                           folder.string(), std::strerror(errno)));
    ::rmdir(probe.c_str());
}

void print_json(const nlohmann::json& value) { std::cout << text_of(value, 2) << '\n'; }

void print_json_line(const nlohmann::json& value) {
    std::cout << text_of(value, -1) << '\n' << std::flush;
}

}  // namespace assay::cli
