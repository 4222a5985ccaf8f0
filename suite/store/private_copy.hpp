// A copy of a database in a folder of our own, for reading where nothing may be written.
#pragma once

#include <filesystem>

namespace assay::store {

/// Copies the database and its -wal file into a new folder that only this user may enter, under
/// TMPDIR; the folder goes with the object. StoreError when it cannot be copied.
class PrivateCopy {
  public:
    explicit PrivateCopy(const std::filesystem::path& database);
    ~PrivateCopy();
    PrivateCopy(PrivateCopy&&) noexcept;
    PrivateCopy& operator=(PrivateCopy&&) = delete;

    const std::filesystem::path& file() const { return file_; }

  private:
    std::filesystem::path folder_, file_;
};

}  // namespace assay::store
