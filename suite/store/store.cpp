// Opening and closing a Store.
#include "suite/store/store.hpp"

#include <cstdlib>

#include "suite/store/impl.hpp"

namespace assay::store {
namespace fs = std::filesystem;

fs::path default_path() {
    const auto from = [](const char* name) -> fs::path {
        const char* value = std::getenv(name);
        return value ? value : "";
    };
    if (const auto file = from("ASSAY_DB"); !file.empty()) return file;
    // The XDG specification says that a relative path is to be ignored.
    if (const auto folder = from("XDG_DATA_HOME"); folder.is_absolute())
        return folder / "assay" / "results.db";
    if (const auto home = from("HOME"); !home.empty())
        return home / ".local" / "share" / "assay" / "results.db";
    throw StoreError(
        "neither ASSAY_DB nor XDG_DATA_HOME nor HOME is set: say with --db where the results "
        "database is.");
}

Store Store::open(const fs::path& file, Access access) {
    auto database = Database::open(file, access);
    if (access == Access::write) interrupt_dead_sessions(database);
    return Store(std::make_unique<Impl>(Impl{std::move(database)}));
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

const fs::path& Store::path() const { return impl_->database.file(); }

}  // namespace assay::store
