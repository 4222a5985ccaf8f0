#include "tests/base/device_writes.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

std::function<void(const std::filesystem::path&)> listener;

std::vector<std::string> sorted(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

DeviceWrites::DeviceWrites(std::filesystem::path name) : name_(std::move(name)) {
    listener = [this](const std::filesystem::path& path) {
        (std::filesystem::exists(name_) ? after_ : before_).push_back(path.filename().string());
    };
}

DeviceWrites::~DeviceWrites() { listener = {}; }

std::vector<std::string> DeviceWrites::before() const { return sorted(before_); }
std::vector<std::string> DeviceWrites::after() const { return sorted(after_); }

}  // namespace assay

/// Found before the C library's by the program that this is linked into.
extern "C" int fsync(int fd) {
    if (assay::listener)
        assay::listener(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd)));
    return static_cast<int>(::syscall(SYS_fsync, fd));
}
