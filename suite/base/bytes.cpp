#include "suite/base/bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "suite/base/error.hpp"

namespace assay {

Bytes Bytes::of(std::vector<std::byte> content) {
    const auto owner = std::make_shared<std::vector<std::byte>>(std::move(content));
    return Bytes(std::shared_ptr<std::byte>(owner, owner->data()), owner->size());
}

Bytes Bytes::zeros(std::uint64_t size) { return of(std::vector<std::byte>(size)); }

Bytes Bytes::of_file(const std::filesystem::path& file) {
    const auto refuse = [&](const std::string& why) {
        throw UserError(fmt::format("{} cannot be read: {}", file.string(), why));
    };
    const auto refuse_for_errno = [&] {
        refuse(std::error_code(errno, std::generic_category()).message());
    };
    auto handle = std::make_shared<FileDescriptor>(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!*handle) refuse_for_errno();
    struct stat status {};
    if (::fstat(handle->get(), &status) != 0) refuse_for_errno();
    if (!S_ISREG(status.st_mode)) refuse("it is no regular file");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size == 0) return Bytes(nullptr, 0, std::move(handle));  // nothing that could be mapped
    void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, handle->get(), 0);
    if (mapped == MAP_FAILED) refuse_for_errno();
    std::shared_ptr<std::byte> first(static_cast<std::byte*>(mapped),
                                     [size](std::byte* at) { ::munmap(at, size); });
    return Bytes(std::move(first), size, std::move(handle));
}

Bytes Bytes::length_only(std::uint64_t size) { return Bytes(nullptr, size); }

std::span<const std::byte> Bytes::view() const {
    if (!has_content()) throw std::logic_error("bytes that are a length only have no content");
    return {first_.get(), size_};
}

std::span<std::byte> Bytes::writable() const {
    if (!is_writable())
        throw std::logic_error("bytes of a file, or that are a length only, cannot be written");
    return {first_.get(), size_};
}

}  // namespace assay
