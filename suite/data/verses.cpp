#include "suite/data/verses.hpp"

#include <fmt/format.h>

#include "suite/data/catalog.hpp"

namespace assay::data {

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

}  // namespace assay::data
