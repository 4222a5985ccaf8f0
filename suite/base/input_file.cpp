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

InputFile::InputFile(std::string_view option, std::string_view file, std::string_view what,
                     Dash dash)
    : name_(file), is_standard_input_(file == "-" && dash == Dash::standard_input) {
    if (is_standard_input_) {
        name_ = standard_input;
        pass_over_byte_order_mark(std::cin);
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
    pass_over_byte_order_mark(file_);
}

std::istream& InputFile::stream() { return is_standard_input_ ? std::cin : file_; }

std::string InputFile::text() {
    std::string text(std::istreambuf_iterator<char>(stream()), {});
    if (stream().bad()) throw UserError(fmt::format("{}: reading it failed", name_));
    return text;
}

}  // namespace assay
