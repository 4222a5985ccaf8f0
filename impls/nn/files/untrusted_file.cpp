#include "impls/nn/files/untrusted_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "suite/base/error.hpp"
#include "suite/base/file_descriptor.hpp"
#include "suite/base/json_text.hpp"

namespace assay::nn {

void malformed(std::string_view file, std::string_view what) {
    throw UserError(fmt::format("{}: {}", file, what));
}

std::string shown(std::string_view name) {
    constexpr std::size_t most = 80;
    std::string text = "\"";
    for (const char c : name.substr(0, most)) {
        if (c >= ' ' && c <= '~')
            text += c;
        else
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return text + (name.size() > most ? "…\"" : "\"");
}

Mapping::Mapping(const std::filesystem::path& path) {
    const auto refuse = [&](const char* what) {
        malformed(path.string(), fmt::format("{}: {}", what, std::strerror(errno)));
    };
    // Not blocking: opening a named pipe would otherwise wait for a writer.
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) refuse("cannot be opened");
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) refuse("cannot be examined");
    if (!S_ISREG(status.st_mode)) malformed(path.string(), "not a regular file");
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) return;  // nothing to map
    void* const begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (begin == MAP_FAILED) refuse("cannot be mapped into memory");
    bytes_ = {static_cast<const std::byte*>(begin), size};
}

Mapping::Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

Mapping::~Mapping() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void Mapping::forget(std::span<const std::byte> part) const {
    const auto address = [](const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at); };
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto from = std::max(address(part.data()), address(bytes_.data()));
    const auto to =
        std::min(address(part.data() + part.size()), address(bytes_.data() + bytes_.size()));
    const auto first = (from + page - 1) / page * page, end = to / page * page;
    // Only a wish.
    if (first < end)
        static_cast<void>(::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED));
}

nlohmann::json strict_json(std::string_view file, std::string_view text) {
    try {
        return parse_json(text);
    } catch (const JsonError& error) {
        throw UserError(fmt::format("{}:{}:{}: {}", file, error.line, error.column, error.what()));
    }
}

const nlohmann::json& member(const nlohmann::json& parent, const char* key) {
    static const nlohmann::json none;
    const auto found = parent.find(key);
    return found == parent.end() ? none : *found;
}

std::string value_text(const nlohmann::json& value) {
    if (value.is_null()) return "nothing";
    if (value.is_string()) return "the text " + shown(value.get_ref<const std::string&>());
    if (value.is_array()) return "a list";
    if (value.is_object()) return "a table";
    return (value.is_number_float() ? "the decimal number " : "") + value.dump();
}

std::optional<std::int64_t> number_below(std::int64_t limit, const nlohmann::json& value) {
    if (!value.is_number_integer()) return std::nullopt;
    const auto number = value.get<std::int64_t>();  // what is beyond its range becomes negative
    if (number < 0 || number >= limit) return std::nullopt;
    return number;
}

}  // namespace assay::nn
