// Programs that were kept beside the database, so that the baseline's can be run again.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
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
    /// DATABASE.builds; keep() makes it.
    const std::filesystem::path& folder() const { return folder_; }
    /// The folders of kept programs that are whole or look so, and when each was kept last.
    std::map<std::string, std::filesystem::file_time_type> kept() const;
    /// Removes all others that are at least a day old; returns how many.
    int keep_only(const std::set<std::string>& names) const;

  private:
    std::filesystem::path folder_;
    mutable std::map<std::filesystem::path, std::string> damage_;  ///< by executable
};

/// What a night is run with, as "assay 1a2b3c4d5e6f, planner_benchmark 0f1e2d3c4b5a": each file
/// that keep() would keep, with the beginning of its SHA-256. Of the running program it is what was
/// started, though another one may have taken its name since. UserError: a file is not readable.
std::string programs_text(const std::vector<std::filesystem::path>& benchmarks);

/// The suspect of a session that holds them, and what differs between two such texts: "assay was
/// built anew".
inline constexpr const char* programs_suspect = "programs";
std::string programs_changed(const std::string& before, const std::string& after);

/// Why a night that this database would call the first is none: the file is not there or is empty,
/// or was made after programs had been kept beside it, so that an earlier one was lost. nullopt: no
/// sign of that. `made`: when the file that is there was made, ISO 8601; empty without a file.
std::optional<std::string> lost_database(const std::filesystem::path& database,
                                         const std::string& made);

}  // namespace assay::gate
