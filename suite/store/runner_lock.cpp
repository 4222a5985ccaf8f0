// Tells whether the runner that began a session still lives.
#include "suite/store/runner_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "suite/store/store.hpp"

namespace assay::store {
namespace {

// Locks of the open file description: those of the process would go when anyone in the process
// closed the file. The descriptor closes on exec, so that workers do not keep them alive.
struct flock one_byte(std::int64_t at) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = at;
    lock.l_len = 1;
    return lock;
}

}  // namespace

RunnerLock::RunnerLock(const std::filesystem::path& database)
    : path_(database.string() + "-runners") {
    const auto fail = [&](const char* what) {
        const int error = errno;
        if (file_ >= 0) close(file_);
        throw StoreError(
            fmt::format("{}: cannot {} ({}). Name a file in a folder on a local disk that "
                        "you may write, with --db or ASSAY_DB.",
                        path_.string(), what, std::strerror(error)));
    };
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0) fail("open it");
    do {
        std::uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != sizeof random) fail("draw a random number");
        token_ = static_cast<std::int64_t>(random >> 2) + 1;  // positive, and token + 1 fits off_t
        auto lock = one_byte(token_);
        if (fcntl(file_, F_OFD_SETLK, &lock) == 0) return;
    } while (errno == EAGAIN || errno == EACCES);  // taken: draw again
    fail("lock it");
}

RunnerLock::RunnerLock(RunnerLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), token_(other.token_), path_(std::move(other.path_)) {}

RunnerLock::~RunnerLock() {
    if (file_ >= 0) close(file_);
}

bool RunnerLock::alive(std::int64_t token) const {
    if (token == token_) return true;
    if (token <= 0) return false;
    auto lock = one_byte(token);
    // When in doubt alive: a session that is not resumed costs less than one run by two at once.
    return fcntl(file_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace assay::store
