// A copy of a database in a folder of our own, for reading where nothing may be written.
#include "suite/store/private_copy.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "suite/store/store.hpp"

namespace assay::store {
namespace fs = std::filesystem;

PrivateCopy::PrivateCopy(const fs::path& database) {
    const auto fail = [&](const std::string& why) {
        std::error_code ignored;
        if (!folder_.empty()) fs::remove_all(folder_, ignored);
        throw StoreError(
            fmt::format("{}: lies where nothing may be written, and cannot be copied for reading "
                        "({}). Point TMPDIR "
                        "to a folder with enough space.",
                        database.string(), why));
    };
    std::error_code error;
    auto pattern = (fs::temp_directory_path(error) / "assay-read-XXXXXX").string();
    if (error) fail(error.message());
    if (!mkdtemp(pattern.data())) fail(std::strerror(errno));
    folder_ = pattern;
    file_ = folder_ / "results.db";
    const auto copy = [&](const fs::path& from, const fs::path& to) {
        if (!fs::copy_file(from, to, error) || error) fail(error.message());
        // A copy inherits the mode, and a read-only one would keep SQLite from recovering its WAL.
        fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, error);
        if (error) fail(error.message());
    };
    copy(database, file_);
    const fs::path wal = database.string() + "-wal";
    if (fs::exists(wal, error)) copy(wal, file_.string() + "-wal");
}

PrivateCopy::PrivateCopy(PrivateCopy&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), file_(std::move(other.file_)) {}

PrivateCopy::~PrivateCopy() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

}  // namespace assay::store
