// Programs that were kept beside the database, so that the baseline's can be run again.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace assay::gate {

/// DATABASE.builds/NAME/, NAME made of the build id and the content of everything kept with it. The
/// running program, its plug-ins (shared libraries beside it) and the named benchmark programs are
/// copied; what several nights have in common is stored once per folder, not across folders.
class KeptPrograms {
  public:
    explicit KeptPrograms(const std::filesystem::path& database);

    /// Keeps the running program; returns NAME. UserError: the disk is full, a file is not
    /// readable.
    std::string keep(const std::vector<std::filesystem::path>& benchmarks) const;
    /// The kept executable; empty: it is not there (any more).
    std::filesystem::path executable(const std::string& name) const;
    /// Removes all others; returns how many.
    int keep_only(const std::set<std::string>& names) const;

  private:
    std::filesystem::path folder_;
};

}  // namespace assay::gate
