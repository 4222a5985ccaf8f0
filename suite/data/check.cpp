#include "suite/data/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

#include "suite/base/input_file.hpp"
#include "suite/base/sha256.hpp"

namespace assay::data {

namespace {

[[noreturn]] void fail(std::size_t line, std::string_view what) {
    throw DataError(fmt::format("line {}: {}", line, what));
}

std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    for (std::size_t start = 0;;) {
        const std::size_t comma = line.find(',', start);
        fields.push_back(line.substr(start, comma - start));
        if (comma == std::string_view::npos) return fields;
        start = comma + 1;
    }
}

std::uint64_t count(std::string_view field, std::size_t line) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || end != field.data() + field.size())
        fail(line, fmt::format("\"{}\" is not a non-negative integer", field.substr(0, 40)));
    return value;
}

/// One line without its end (LF or CR LF).
bool next_line(std::istream& in, std::string& line) {
    if (!std::getline(in, line)) return false;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return true;
}

void check_text(std::istream& in) {
    std::string line;
    std::size_t number = 0;
    while (std::getline(in, line)) {
        ++number;
        if (line.find('\0') != std::string::npos) fail(number, "a NUL byte: this is no text");
    }
    if (number == 0) fail(1, "the file is empty");
}

void check_node_trace(std::istream& in) {
    std::string line;
    std::size_t number = 0;
    std::uint64_t before_ms = 0;
    std::set<std::string, std::less<>> alive;
    while (next_line(in, line)) {
        ++number;
        const auto fields = fields_of(line);
        if (fields.size() != 3 || fields[2].empty())
            fail(number, "expected milliseconds,add|remove,node");
        const std::uint64_t now_ms = count(fields[0], number);
        if (now_ms < before_ms) fail(number, "times must not decrease");
        before_ms = now_ms;
        if (fields[1] == "add") {
            if (!alive.emplace(fields[2]).second)
                fail(number, fmt::format("node {} joins but is already there", fields[2]));
        } else if (fields[1] == "remove") {
            const auto node = alive.find(fields[2]);
            if (node == alive.end())
                fail(number, fmt::format("node {} leaves but is not there", fields[2]));
            alive.erase(node);
        } else {
            fail(number, fmt::format("\"{}\" is neither add nor remove", fields[1].substr(0, 40)));
        }
    }
    if (number == 0) fail(1, "the file is empty");
}

/// Magic, version, number of tensors, number of metadata entries: 24 bytes, little-endian.
void check_gguf(std::istream& in) {
    unsigned char head[24];
    in.read(reinterpret_cast<char*>(head), sizeof head);
    if (in.gcount() != sizeof head || std::memcmp(head, "GGUF", 4) != 0)
        throw DataError("not a GGUF file: it does not begin with a GGUF header");
    const auto number = [&](std::size_t at, std::size_t bytes) {
        std::uint64_t value = 0;
        for (std::size_t i = bytes; i-- > 0;) value = value << 8 | head[at + i];
        return value;
    };
    const auto version = number(4, 4);
    if (version != 2 && version != 3)
        throw DataError(fmt::format("GGUF version {}; versions 2 and 3 are read", version));
    if (number(8, 8) == 0) throw DataError("a GGUF file without tensors");
}

const DataCheck& check_of(const Entry& entry, const DataFormats& of_systems) {
    std::vector<std::string> known;
    for (const DataFormats* formats : {&suite_formats(), &of_systems}) {
        if (const auto found = formats->find(entry.format); found != formats->end())
            return found->second;
        for (const auto& one : *formats) known.push_back(one.first);
    }
    const auto nearest = nearest_id(entry.format, known);
    throw DataError(fmt::format(
        "the catalogue's entry {}: no format is called \"{}\"{}; known are "
        "{}",
        entry.id, entry.format, nearest ? fmt::format(", did you mean \"{}\"?", *nearest) : "",
        fmt::join(known, ", ")));
}

}  // namespace

const DataFormats& suite_formats() {
    static const DataFormats formats{
        {"text", check_text}, {"node_trace", check_node_trace}, {"gguf", check_gguf}};
    return formats;
}

Check check_file(const Entry& entry, const std::filesystem::path& file,
                 const DataFormats& formats) {
    const DataCheck& check_format = check_of(entry, formats);
    Check result{.id = entry.id, .file = file};
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        result.state = State::malformed;
        result.says = "the file cannot be read";
        return result;
    }
    pass_over_byte_order_mark(in);
    try {
        check_format(in);
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

Check check(const Entry& entry, const DataFormats& formats) {
    check_of(entry, formats);  // a mistake in the catalogue, whether or not the file is here
    if (const auto file = locate(entry.id)) return check_file(entry, *file, formats);
    return {.id = entry.id, .file = folder() / entry.file, .state = State::absent};
}

std::vector<Check> check_all(const DataFormats& formats) {
    std::vector<Check> results;
    for (const Entry& entry : catalog()) results.push_back(check(entry, formats));
    return results;
}

}  // namespace assay::data
