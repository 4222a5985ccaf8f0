#include "suite/base/durable_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "suite/base/encoding.hpp"

namespace assay {
namespace fs = std::filesystem;

void write_to_device(const fs::path& path) {
    const int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool written = handle >= 0 && ::fsync(handle) == 0;
    const int error = errno;
    if (handle >= 0) ::close(handle);
    // Not every file system does this with folders, and a folder may be closed to readers.
    if (!written && fs::is_directory(path) &&
        (error == EINVAL || error == ENOTSUP || error == EACCES))
        return;
    if (!written)
        throw fs::filesystem_error("cannot write it to the device", path,
                                   std::error_code(error, std::generic_category()));
}

void publish(const fs::path& aside, const fs::path& name) {
    if (fs::is_directory(aside))
        for (const auto& entry : fs::recursive_directory_iterator(aside))
            write_to_device(entry.path());
    write_to_device(aside);
    fs::rename(aside, name);
    write_to_device(name.has_parent_path() ? name.parent_path() : fs::path("."));
}

std::string missing_folder(const fs::path& file) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    std::error_code error;
    if (fs::is_directory(folder, error)) return {};
    if (fs::exists(folder, error))
        return fmt::format("{} is a file, not a folder", folder.string());
    return fmt::format("the folder {0} does not exist; `mkdir -p {1}` makes it", folder.string(),
                       shell_quoted(folder.string()));
}

}  // namespace assay
