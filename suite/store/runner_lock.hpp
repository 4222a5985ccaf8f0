// Tells whether the runner that began a session still lives.
#pragma once

#include <cstdint>
#include <filesystem>

namespace assay::store {

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
