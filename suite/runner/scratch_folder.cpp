#include "suite/runner/scratch_folder.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>

#include "suite/experiment/error.hpp"

namespace assay::runner {
namespace {

constexpr std::string_view prefix = "assay-sample-";

}  // namespace

ScratchFolder::ScratchFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / fmt::format("{}{}-XXXXXX", prefix, ::getpid()))
            .string();
    if (::mkdtemp(name.data()) == nullptr)
        throw UserError(
            fmt::format("cannot make a folder for temporary files, {}: {}; set TMPDIR "
                        "to a folder that can be written",
                        name, std::strerror(errno)));
    path_ = name;
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

int ScratchFolder::remove_abandoned() {
    int removed = 0;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::temp_directory_path(), error)) {
        const std::string name = entry.path().filename().string();
        if (name.rfind(prefix, 0) != 0) continue;
        pid_t pid = 0;
        const char* begin = name.data() + prefix.size();
        const auto [end, code] = std::from_chars(begin, name.data() + name.size(), pid);
        if (code != std::errc{} || *end != '-' || pid <= 0) continue;
        struct stat status {};
        // Only our own, and only a real folder: the place is writable by everybody.
        if (::lstat(entry.path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
            status.st_uid != ::getuid())
            continue;
        if (::kill(pid, 0) == 0 || errno != ESRCH) continue;
        std::error_code ignored;
        if (std::filesystem::remove_all(entry.path(), ignored) > 0) ++removed;
    }
    return removed;
}

}  // namespace assay::runner
