#include "suite/base/input_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "suite/base/error.hpp"

namespace assay {

InputFile::InputFile(std::string_view option, std::string_view file, std::string_view what,
                     Dash dash)
    : name_(file), is_standard_input_(file == "-" && dash == Dash::standard_input) {
    if (is_standard_input_) {
        name_ = standard_input;
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
}

std::istream& InputFile::stream() { return is_standard_input_ ? std::cin : file_; }

std::string InputFile::text() {
    std::string text(std::istreambuf_iterator<char>(stream()), {});
    if (stream().bad()) throw UserError(fmt::format("{}: reading it failed", name_));
    return text;
}

}  // namespace assay
