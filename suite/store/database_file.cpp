// The file of a results database, before SQLite opens it.
#include "suite/store/database_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "suite/base/file_descriptor.hpp"
#include "suite/store/store.hpp"

namespace assay::store {
namespace fs = std::filesystem;

// ---- whose it is: sqlite.org/fileformat2.html section 1.3 ---------------------------------------

namespace {

std::uint32_t big_endian(const char* at) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(at[i]);
    return value;
}

constexpr std::string_view advice =
    "It was left as it is; name another file with --db or ASSAY_DB.";

}  // namespace

void refuse_foreign_file(const std::filesystem::path& file, std::uint32_t newest,
                         bool may_be_empty) {
    const auto refuse = [&](const std::string& why) {
        throw StoreError(fmt::format("{}: {}. {}", file.string(), why, advice));
    };
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) refuse("not a regular file");
    std::ifstream in(file, std::ios::binary);
    if (!in) refuse(fmt::format("cannot be read ({})", std::strerror(errno)));
    std::array<char, 100> header{};
    in.read(header.data(), header.size());
    const auto got = in.gcount();
    if (got == 0) {
        if (!may_be_empty) refuse("the file is empty, there are no results in it yet");
        return;
    }
    constexpr std::string_view magic{"SQLite format 3\0", 16};
    if (got < static_cast<std::streamsize>(header.size()) ||
        std::string_view(header.data(), magic.size()) != magic)
        refuse("not an Assay database (not even an SQLite file)");
    // No mark and no schema change yet: a database that somebody has only begun to make.
    const bool begun = big_endian(header.data() + 68) == 0 && big_endian(header.data() + 40) == 0;
    if (begun) {
        if (!may_be_empty) refuse("there are no results in it yet");
        return;
    }
    if (big_endian(header.data() + 68) != application_id)
        refuse("not an Assay database, but an SQLite file of another program");
    if (const auto version = big_endian(header.data() + 60); version > newest)
        refuse(fmt::format(
            "the file has schema version {}, this program knows versions up to {}: a newer "
            "program is needed",
            version, newest));
}

// ---- where it must not live --------------------------------------------------------------------

namespace {

struct Known {
    unsigned long magic;
    const char* name;
};
// From statfs(2) and linux/magic.h; some file systems define theirs in their own sources only.
constexpr std::array<Known, 13> by_magic = {{{0x6969, "NFS"},
                                             {0x517b, "SMB"},
                                             {0xff534d42, "CIFS"},
                                             {0xfe534d42, "SMB2"},
                                             {0x5346414f, "AFS"},
                                             {0x6b414653, "AFS"},
                                             {0x73757245, "Coda"},
                                             {0x564c, "NCP"},
                                             {0x00c36400, "Ceph"},
                                             {0x0bd00bd0, "Lustre"},
                                             {0x47504653, "GPFS"},
                                             {0x19830326, "BeeGFS"},
                                             {0x7461636f, "OCFS2"}}};
constexpr unsigned long fuse_magic = 0x65735546;
// FUSE also serves local disks (NTFS, overlay, MergerFS), so only those known to be remote count.
constexpr std::array<std::string_view, 14> remote_fuse = {
    "sshfs",  "s3fs",   "gcsfuse",  "rclone",  "glusterfs", "ceph",     "davfs",
    "curlft", "goofys", "blobfuse", "juicefs", "moosefs",   "mount-s3", "hdfs"};

/// The type column of the mount whose device number is that of `folder`.
std::string mount_type(const std::filesystem::path& folder) {
    struct stat info {};
    if (stat(folder.c_str(), &info) != 0) return {};
    const auto device = fmt::format("{}:{}", major(info.st_dev), minor(info.st_dev));
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream fields(line);
        std::string id, parent, number;
        fields >> id >> parent >> number;
        const auto separator = line.find(" - ");
        if (number != device || separator == std::string::npos) continue;
        return line.substr(separator + 3, line.find(' ', separator + 3) - separator - 3);
    }
    return {};
}

}  // namespace

std::optional<std::string> network_file_system(unsigned long magic, std::string_view mount_type) {
    for (const auto& known : by_magic)
        if (known.magic == magic) return known.name;
    if (magic == fuse_magic)
        for (const auto name : remote_fuse)
            if (mount_type.find(name) != std::string_view::npos) return std::string(mount_type);
    return std::nullopt;
}

void refuse_network_file_system(const std::filesystem::path& file,
                                const std::filesystem::path& folder) {
    struct statfs info {};
    if (statfs(folder.c_str(), &info) != 0) return;  // opening the file will say what is wrong
    // f_type is signed and sign-extended on some architectures; every magic number has 32 bits.
    const auto magic = static_cast<unsigned long>(info.f_type) & 0xffffffffUL;
    if (const auto name = network_file_system(magic, mount_type(folder)))
        throw StoreError(fmt::format(
            "{}: the folder lies on a network file system ({}), where the database could be "
            "damaged by "
            "two hosts. Name a file on a local disk with --db or ASSAY_DB; to read results made "
            "elsewhere, copy the file to a local disk first.",
            file.string(), *name));
}

// ---- a copy to read ----------------------------------------------------------------------------

TemporaryFolder::TemporaryFolder(std::string_view name, const fs::path& parent) {
    auto pattern = (parent / fmt::format("{}-XXXXXX", name)).string();
    if (!mkdtemp(pattern.data()))
        throw std::system_error(errno, std::generic_category(),
                                fmt::format("cannot make a folder like {}", pattern));
    path_ = pattern;
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
}

namespace {

/// A folder with a copy in it. std::system_error.
TemporaryFolder copy_in(const fs::path& parent, const fs::path& database, const char* name) {
    TemporaryFolder folder("assay-read", parent);
    const fs::path wal = database.string() + "-wal", to = folder / name;
    const auto copy = [](const fs::path& from, const fs::path& as) {
        fs::copy_file(from, as);
        // A copy inherits the mode, and a read-only one would keep SQLite from recovering its WAL.
        fs::permissions(as, fs::perms::owner_read | fs::perms::owner_write);
    };
    copy(database, to);
    if (fs::exists(wal)) copy(wal, to.string() + "-wal");
    return folder;
}

TemporaryFolder copied(const fs::path& database, const char* name) {
    try {
        try {
            return copy_in(fs::temp_directory_path(), database, name);
        } catch (const std::system_error& failure) {
            if (failure.code() != std::errc::no_space_on_device) throw;
        }
        return copy_in("/dev/shm", database, name);
    } catch (const std::system_error& failure) {
        throw StoreError(fmt::format(
            "{}: lies where nothing can be written, and cannot be copied for reading ({}). "
            "Point TMPDIR to a folder with enough space.",
            database.string(), failure.code().message()));
    }
}

}  // namespace

PrivateCopy::PrivateCopy(const fs::path& database)
    : folder_(copied(database, "results.db")), file_(folder_ / "results.db") {}

// ---- its runners -------------------------------------------------------------------------------

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

std::filesystem::path runners_of(const std::filesystem::path& database) {
    return database.string() + "-runners";
}

/// Whether somebody else than the holder of `file` locks the token's byte.
bool is_locked(int file, std::int64_t token) {
    if (token <= 0) return false;
    auto lock = one_byte(token);
    // When in doubt alive: a session that is not resumed costs less than one run by two at once.
    return fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace

bool runner_lives(const std::filesystem::path& database, std::int64_t token) {
    const FileDescriptor file(open(runners_of(database).c_str(), O_RDONLY | O_CLOEXEC));
    return file ? is_locked(file.get(), token) : errno != ENOENT;
}

RunnerLock::RunnerLock(const std::filesystem::path& database) : path_(runners_of(database)) {
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
    return token == token_ || is_locked(file_, token);
}

}  // namespace assay::store
