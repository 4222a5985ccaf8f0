// Programs that were kept beside the database, so that the baseline's can be run again.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::gate {

/// DATABASE.builds/NAME/, NAME made of the build id and the content of every file in the folder.
/// The running program, its plug-ins (shared libraries beside it) and the named benchmark programs
/// are copied; what several nights have in common is stored once per folder, not across folders. A
/// folder appears whole and stays so over a power cut.
class KeptPrograms {
  public:
    explicit KeptPrograms(const std::filesystem::path& database);

    /// Keeps the running program; returns NAME. UserError: the disk is full, a file is not
    /// readable.
    std::string keep(const std::vector<std::filesystem::path>& benchmarks) const;
    /// The kept executable; empty: it is not there (any more). Ask for its damage() before it is
    /// run.
    std::filesystem::path executable(const std::string& name) const;
    /// Why a kept executable must not be run: its folder does not hold what the name stands for.
    /// Empty: it does. The files are read once, until look_again().
    const std::string& damage(const std::filesystem::path& executable) const;
    /// Forgets what damage() found: hours may have passed since.
    void look_again() const { damage_.clear(); }
    /// Removes all others that are at least a day old; returns how many.
    int keep_only(const std::set<std::string>& names) const;

  private:
    std::filesystem::path folder_;
    mutable std::map<std::filesystem::path, std::string> damage_;  ///< by executable
};

}  // namespace assay::gate
