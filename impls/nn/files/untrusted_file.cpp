#include "impls/nn/files/untrusted_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "suite/base/error.hpp"
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

UntrustedFile::UntrustedFile(const std::filesystem::path& path) : name_(path.string()) {
    const auto refuse = [&](const char* what) {
        malformed(name_, fmt::format("{}: {}", what, std::strerror(errno)));
    };
    // Not blocking: opening a named pipe would otherwise wait for a writer.
    file_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file_) refuse("cannot be opened");
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0) refuse("cannot be examined");
    if (!S_ISREG(status.st_mode)) malformed(name_, "not a regular file");
    size_ = static_cast<std::uint64_t>(status.st_size);
}

UntrustedFile::UntrustedFile(std::string name, std::span<const std::byte> bytes)
    : name_(std::move(name)), memory_(bytes), size_(bytes.size()) {}

void UntrustedFile::read(std::uint64_t offset, std::span<std::byte> out) const {
    if (offset > size_ || out.size() > size_ - offset)
        throw std::out_of_range(name_ + ": bytes beyond the end of the file");
    if (!file_) {
        const auto part = memory_.subspan(offset, out.size());
        std::copy(part.begin(), part.end(), out.begin());
        return;
    }
    while (!out.empty()) {
        const ssize_t got =
            ::pread(file_.get(), out.data(), out.size(), static_cast<off_t>(offset));
        if (got == 0)
            malformed(name_, fmt::format("became shorter while it was read: it had {} bytes; put a "
                                         "new file in its place instead of writing over it",
                                         size_));
        if (got < 0 && errno != EINTR)
            malformed(name_, fmt::format("cannot be read: {}", std::strerror(errno)));
        const auto taken = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
        offset += taken;
        out = out.subspan(taken);
    }
}

std::string UntrustedFile::text(std::uint64_t most) const {
    if (size_ > most)
        malformed(name_, fmt::format("has {} bytes; at most {} are read", size_, most));
    std::string all(size_, '\0');
    read(0, std::as_writable_bytes(std::span(all)));
    return all;
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
    if (value.is_binary()) return "a list of bytes";
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
