// Looks at a file before SQLite does. Layout: sqlite.org/fileformat2.html section 1.3.
#include "suite/store/file_header.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "suite/store/store.hpp"

namespace assay::store {
namespace {

std::uint32_t big_endian(const char* at) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(at[i]);
    return value;
}

constexpr std::string_view advice =
    "It was left as it is; name another file with --db or ASSAY_DB.";

}  // namespace

void refuse_foreign_file(const std::filesystem::path& file, std::uint32_t newest,
                         bool may_be_empty) {
    const auto refuse = [&](const std::string& why) {
        throw StoreError(fmt::format("{}: {}. {}", file.string(), why, advice));
    };
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) refuse("not a regular file");
    std::ifstream in(file, std::ios::binary);
    if (!in) refuse(fmt::format("cannot be read ({})", std::strerror(errno)));
    std::array<char, 100> header{};
    in.read(header.data(), header.size());
    const auto got = in.gcount();
    if (got == 0) {
        if (!may_be_empty) refuse("the file is empty, there are no results in it yet");
        return;
    }
    constexpr std::string_view magic{"SQLite format 3\0", 16};
    if (got < static_cast<std::streamsize>(header.size()) ||
        std::string_view(header.data(), magic.size()) != magic)
        refuse("not an Assay database (not even an SQLite file)");
    // No mark and no schema change yet: a database that somebody has only begun to make.
    const bool begun = big_endian(header.data() + 68) == 0 && big_endian(header.data() + 40) == 0;
    if (begun) {
        if (!may_be_empty) refuse("there are no results in it yet");
        return;
    }
    if (big_endian(header.data() + 68) != application_id)
        refuse("not an Assay database, but an SQLite file of another program");
    if (const auto version = big_endian(header.data() + 60); version > newest)
        refuse(fmt::format(
            "the file has schema version {}, this program knows versions up to {}: a newer "
            "program is needed",
            version, newest));
}

}  // namespace assay::store
