#include "suite/data/check.hpp"

#include <fmt/format.h>

#include <fstream>

#include "suite/data/formats.hpp"
#include "suite/store/sha256.hpp"

namespace assay::data {

std::string_view to_string(State state) {
    switch (state) {
        case State::ok:
            return "ok";
        case State::absent:
            return "absent";
        case State::changed:
            return "changed";
        case State::malformed:
            return "malformed";
    }
    return "?";
}

Check check_file(const Entry& entry, const std::filesystem::path& file) {
    Check result{.id = entry.id, .file = file};
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        result.state = State::malformed;
        result.says = "the file cannot be read";
        return result;
    }
    try {
        validate(in, entry.format);
    } catch (const DataError& error) {
        result.state = State::malformed;
        result.says = error.what();
        return result;
    }
    result.state = State::changed;
    const auto size = std::filesystem::file_size(file);
    if (entry.size_bytes && size != *entry.size_bytes) {
        result.says = fmt::format("{} bytes where {} are known", size, *entry.size_bytes);
        return result;
    }
    if (entry.sha256) {
        const std::string hash = sha256_file_hex(file);
        if (hash != *entry.sha256) {
            result.says = fmt::format("sha256 {} where {} is known", hash, *entry.sha256);
            return result;
        }
    }
    result.state = State::ok;
    return result;
}

Check check(const Entry& entry) {
    if (const auto file = locate(entry.id)) return check_file(entry, *file);
    return {.id = entry.id, .file = folder() / entry.file, .state = State::absent};
}

std::vector<Check> check_all() {
    std::vector<Check> results;
    for (const Entry& entry : catalog()) results.push_back(check(entry));
    return results;
}

}  // namespace assay::data
