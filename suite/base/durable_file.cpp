#include "suite/base/durable_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace assay {
namespace fs = std::filesystem;
namespace {

/// Of a file its content, of a folder the names in it.
void write_to_device(const fs::path& path) {
    const int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool written = handle >= 0 && ::fsync(handle) == 0;
    const int error = errno;
    if (handle >= 0) ::close(handle);
    if (!written)
        throw fs::filesystem_error("cannot write it to the device", path,
                                   std::error_code(error, std::generic_category()));
}

}  // namespace

void publish(const fs::path& aside, const fs::path& name) {
    if (fs::is_directory(aside))
        for (const auto& entry : fs::recursive_directory_iterator(aside))
            write_to_device(entry.path());
    write_to_device(aside);
    fs::rename(aside, name);
    write_to_device(name.has_parent_path() ? name.parent_path() : fs::path("."));
}

}  // namespace assay
