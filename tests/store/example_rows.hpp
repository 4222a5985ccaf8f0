// Rows to store, folders to store them in, mounts to make that hard.
#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <optional>
#include <string>

#include "suite/store/store.hpp"

namespace assay::store::testing {

/// A new empty folder that goes with the object.
class Folder {
  public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path operator/(const char* name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// Sets an environment variable (nullptr: unsets it) for as long as the object lives.
class Environment {
  public:
    Environment(std::string name, const char* value);
    ~Environment();
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    std::string name_;
    std::optional<std::string> before_;
};

Machine example_machine();
/// A session on example_machine() with a new id.
Session example_session(std::string started = now_utc());
SampleSpec example_spec(std::uint64_t seed = 1, std::string variant = "lazarus");
SeriesKey key_of(const SampleSpec&);

/// Stores machine and session; returns the session's id.
std::string begin(Store&, std::string started = now_utc());
/// Begins and finishes a sample with one metric; returns its id.
std::string add_sample(Store&, const std::string& session, const SampleSpec&, double value = 1,
                       std::string status = "ok");
/// A finished sample with at least two of everything that can hang on it.
Sample full_sample(const std::string& id, const std::string& session, const SampleSpec&);

/// Gives this process a mount table of its own. False where that is not permitted.
bool own_mounts();
/// Ends this process' own mount at its end, so that the folder can be removed.
struct Unmount {
    std::filesystem::path folder;
    ~Unmount() { umount2(folder.c_str(), MNT_DETACH); }
};

/// Text of the StoreError that `f` throws; empty when it throws none.
template <class F>
std::string error_of(F&& f) {
    try {
        f();
    } catch (const StoreError& error) {
        return error.what();
    }
    return "";
}

}  // namespace assay::store::testing
