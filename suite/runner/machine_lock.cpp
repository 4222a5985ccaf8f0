#include "suite/runner/machine_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "suite/base/error.hpp"

namespace assay::runner {
namespace {

/// The text inside: "process PID: what". Bounded, since anybody may write to a file in /tmp.
std::string written(int fd) {
    std::string text(400, '\0');
    const ssize_t count = ::pread(fd, text.data(), text.size(), 0);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    if (const auto end = text.find('\n'); end != std::string::npos) text.resize(end);
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return text.empty() ? "a process that did not say who it is" : text;
}

/// The whole file, exclusively. An open-file-description lock: it ends with the last descriptor,
/// and others can ask for it without taking it.
struct flock whole_file() {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock;
}

FileDescriptor open_lock(const std::filesystem::path& file) {
    // Without O_CREAT first: in a sticky folder, Linux refuses O_CREAT on a file of somebody else
    // even when it is there and may be opened.
    FileDescriptor fd(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) {
        fd.reset(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
        // Every user must be able to take it, whatever this one's umask says.
        if (fd) ::fchmod(fd.get(), 0666);
    }
    return fd;
}

}  // namespace

std::filesystem::path MachineLock::default_path() {
    if (const char* file = std::getenv("ASSAY_LOCK"); file != nullptr && *file != '\0') return file;
    const bool shared = ::access("/run/lock", W_OK | X_OK) == 0;
    return std::filesystem::path(shared ? "/run/lock" : "/tmp") / "assay-measured-run.lock";
}

MachineLock::MachineLock(const std::filesystem::path& file, const std::string& what,
                         const LockWait& wait)
    : fd_(open_lock(file)) {
    if (!fd_)
        throw UserError(fmt::format(
            "cannot open the lock of measured runs, {}: {}; name another with ASSAY_LOCK=FILE, or "
            "give --no-lock",
            file.string(), std::strerror(errno)));
    struct flock lock = whole_file();
    double waited_s = 0;
    while (::fcntl(fd_.get(), F_OFD_SETLK, &lock) != 0) {
        if (waited_s >= wait.most_s)
            throw UserError(fmt::format(
                "another measured run has this machine{}: {}; wait until it ends, or give "
                "--no-lock and accept that both disturb each other",
                waited_s > 0 ? fmt::format(", after {:.0f} s still", waited_s) : "",
                written(fd_.get())));
        if (wait.tell) wait.tell(waited_s, written(fd_.get()));
        std::this_thread::sleep_for(std::chrono::duration<double>(wait.look_s));
        waited_s += wait.look_s;
    }
    const std::string text = fmt::format("process {}: {}\n", ::getpid(), what);
    if (::ftruncate(fd_.get(), 0) == 0) {
        [[maybe_unused]] const ssize_t ignored = ::pwrite(fd_.get(), text.data(), text.size(), 0);
    }
}

std::optional<std::string> MachineLock::holder(const std::filesystem::path& file) {
    const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) return std::nullopt;
    struct flock lock = whole_file();
    if (::fcntl(fd.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
    return written(fd.get());
}

}  // namespace assay::runner
