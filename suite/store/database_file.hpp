// What goes for the file before SQLite opens it: whether it is ours, where it lies, a copy for
// reading where nothing may be written, and which of its runners live.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace assay::store {

/// "ASSY", in the application_id field of the header of every results database.
inline constexpr std::uint32_t application_id = 0x41535359;

/// StoreError unless `file` is an Assay database of a version up to `newest`, or (when
/// `may_be_empty`) an empty file. Reads 100 bytes, writes nothing.
void refuse_foreign_file(const std::filesystem::path& file, std::uint32_t newest,
                         bool may_be_empty);

/// Name of the network file system, or nullopt for a local one. `magic` is statfs' f_type;
/// `mount_type` the type in the mount table, which alone tells FUSE file systems apart.
std::optional<std::string> network_file_system(unsigned long magic, std::string_view mount_type);

/// StoreError when `folder`, which exists, lies on a network file system: the shared memory and the
/// locks of a WAL database do not work between hosts.
void refuse_network_file_system(const std::filesystem::path& file,
                                const std::filesystem::path& folder);

/// A new empty folder under TMPDIR that only this user may enter; goes with the object.
class TemporaryFolder {
  public:
    /// `name` begins its name, `parent` is TMPDIR's unless given. std::system_error when it cannot
    /// be made.
    explicit TemporaryFolder(std::string_view name, const std::filesystem::path& parent =
                                                        std::filesystem::temp_directory_path());
    ~TemporaryFolder();
    TemporaryFolder(TemporaryFolder&&) noexcept;
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;

    std::filesystem::path operator/(const char* name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
};

/// Copies a database and its -wal file into a folder of our own (in memory where that one's disk is
/// full), for reading where nothing can be written; the copy goes with the object. StoreError when
/// it cannot be made.
class PrivateCopy {
  public:
    explicit PrivateCopy(const std::filesystem::path& database);

    const std::filesystem::path& file() const { return file_; }

  private:
    TemporaryFolder folder_;
    std::filesystem::path file_;
};

/// Whether the writer with this token (RunnerLock) lives; for whoever only reads. When in doubt
/// true.
bool runner_lives(const std::filesystem::path& database, std::int64_t token);

/// Tells whether the runner that began a session still lives.
///
/// Each writer locks one random byte of FILE-runners for as long as its Store lives and writes the
/// byte's number (its token) beside the sessions it runs. The kernel drops the lock with the
/// process, however it ends: unlike with process ids, nothing is ever mistaken for it, not a reused
/// id, not a process of another container that works on the same file, not one from before a
/// reboot.
class RunnerLock {
  public:
    /// StoreError when the file cannot be made or locked.
    explicit RunnerLock(const std::filesystem::path& database);
    ~RunnerLock();
    RunnerLock(RunnerLock&&) noexcept;
    RunnerLock& operator=(RunnerLock&&) = delete;

    std::int64_t token() const { return token_; }
    bool alive(std::int64_t token) const;

  private:
    int file_ = -1;
    std::int64_t token_ = 0;
    std::filesystem::path path_;
};

}  // namespace assay::store
