#include "impls/nn/aside_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace assay::nn {

AsideFile::AsideFile(std::filesystem::path file, bool full)
    : file_(std::move(file)), aside_(file_) {
    aside_ += ".part";
    fd_ =
        ::open(full ? "/dev/full" : aside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd_ < 0) fail();
}

AsideFile::~AsideFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    std::error_code ignored;
    std::filesystem::remove(aside_, ignored);
}

void AsideFile::write(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const char*>(data);
    while (size > 0) {
        const auto written = ::write(fd_, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail();
        bytes += written;
        size -= static_cast<std::size_t>(written);
    }
}

void AsideFile::publish() {
    if (::fsync(fd_) != 0 || std::rename(aside_.c_str(), file_.c_str()) != 0) fail();
    ::close(std::exchange(fd_, -1));
    // The new name too must survive a loss of power.
    const auto folder = file_.has_parent_path() ? file_.parent_path() : ".";
    const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0) fail();
    const bool synced = ::fsync(handle) == 0;
    ::close(handle);
    if (!synced) fail();
}

void AsideFile::fail() const {
    throw std::system_error(errno, std::generic_category(), "cannot write " + file_.string());
}

}  // namespace assay::nn
