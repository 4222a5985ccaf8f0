// Turns what SQLite says into sentences for the user.
#pragma once

#include <SQLiteCpp/Exception.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "suite/store/store.hpp"

namespace assay::store {

/// `doing` completes "could not …".
[[noreturn]] void raise(const std::filesystem::path& file, std::string_view doing,
                        const SQLite::Exception&);
/// A stored value that this program cannot have written.
[[noreturn]] void raise_unreadable(const std::filesystem::path& file, std::string_view doing,
                                   std::string_view why);

/// Calls f; whatever goes wrong with the file leaves it as StoreError.
template <class F>
decltype(auto) guarded(const std::filesystem::path& file, std::string_view doing, F&& f) {
    try {
        return f();
    } catch (const SQLite::Exception& error) {
        raise(file, doing, error);
    } catch (const nlohmann::json::exception& error) {
        raise_unreadable(file, doing, error.what());
    } catch (const std::invalid_argument& error) {
        raise_unreadable(file, doing, error.what());
    }
}

}  // namespace assay::store
