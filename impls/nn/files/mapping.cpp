#include "impls/nn/files/mapping.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "impls/nn/files/malformed.hpp"
#include "suite/cluster/file_descriptor.hpp"

namespace assay::nn {

Mapping::Mapping(const std::filesystem::path& path) {
    const auto refuse = [&](const char* what) {
        malformed(path.string(), fmt::format("{}: {}", what, std::strerror(errno)));
    };
    // Not blocking: opening a named pipe would otherwise wait for a writer.
    const cluster::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
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

}  // namespace assay::nn
