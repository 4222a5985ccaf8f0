#include "suite/base/input_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <utility>

#include "suite/base/error.hpp"

namespace assay {

std::string_view without_byte_order_mark(std::string_view text) {
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    return text;
}

void pass_over_byte_order_mark(std::istream& in) {
    std::size_t same = 0;
    while (same < byte_order_mark.size() &&
           in.peek() == static_cast<unsigned char>(byte_order_mark[same])) {
        in.get();
        ++same;
    }
    if (same == byte_order_mark.size()) return;
    in.clear(in.rdstate() &
             ~std::ios::eofbit);  // peek() may have met the end; reading meets it again
    while (same > 0) in.putback(byte_order_mark[--same]);
}

std::optional<std::string> read_text_file(const std::filesystem::path& file) {
    std::error_code unreachable;
    errno = std::filesystem::is_directory(file, unreachable) ? EISDIR : 0;
    if (errno != 0) return std::nullopt;
    std::ifstream in(file, std::ios::binary);
    if (!in) return std::nullopt;
    pass_over_byte_order_mark(in);
    try {
        std::string text(std::istreambuf_iterator<char>(in), {});
        return in.bad() ? std::nullopt : std::optional(std::move(text));
    } catch (const std::ios_base::failure&) {
        return std::nullopt;
    }
}

namespace {

/// The mark of UTF-16, as PowerShell writes what it redirects. Of a stream that nothing was read
/// of.
bool is_utf16(std::istream& in) {
    const int first = in.peek();
    if (first != 0xff && first != 0xfe) return false;
    in.get();
    const bool mark = in.peek() == (first == 0xff ? 0xfe : 0xff);
    in.clear(in.rdstate() & ~std::ios::eofbit);
    in.putback(static_cast<char>(first));
    return mark;
}

void begin_text(std::istream& in, std::string_view name) {
    if (is_utf16(in))
        throw UserError(
            fmt::format("{}: this text is UTF-16; write it as UTF-8 (in PowerShell: "
                        "… | Out-File -Encoding utf8 FILE)",
                        name));
    pass_over_byte_order_mark(in);
}

}  // namespace

InputFile::InputFile(std::string_view option, std::string_view file, std::string_view what,
                     Dash dash)
    : name_(file), is_standard_input_(file == "-" && dash == Dash::standard_input) {
    if (is_standard_input_) {
        name_ = standard_input;
        begin_text(std::cin, name_);
        return;
    }
    std::error_code unreachable;
    if (std::filesystem::is_directory(name_, unreachable))
        throw UserError(fmt::format("{} {}: a folder; give {}", option, name_, what));
    file_.open(name_, std::ios::binary);
    if (!file_)
        throw UserError(
            fmt::format("{} {}: {}; give {}{}", option, name_, std::strerror(errno), what,
                        dash == Dash::standard_input ? ", or - for standard input" : ""));
    begin_text(file_, name_);
}

std::istream& InputFile::stream() { return is_standard_input_ ? std::cin : file_; }

std::string InputFile::text() {
    std::string text(std::istreambuf_iterator<char>(stream()), {});
    if (stream().bad()) throw UserError(fmt::format("{}: reading it failed", name_));
    return text;
}

}  // namespace assay
