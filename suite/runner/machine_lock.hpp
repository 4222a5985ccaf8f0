// The machine-wide lock that keeps two measured runs apart, whoever starts them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "suite/base/file_descriptor.hpp"

namespace assay::runner {

/// Held until destroyed, or until the process dies in whatever way.
class MachineLock {
  public:
    /// ASSAY_LOCK, else a file in /run/lock, else in /tmp: places that all users of a machine
    /// share.
    static std::filesystem::path default_path();

    /// Throws UserError that names the holder when somebody else has it. `what` is told to others
    /// who ask.
    MachineLock(const std::filesystem::path& file, const std::string& what);

    /// Who holds it ("process 4711: assay run …"), or nullopt: nobody.
    static std::optional<std::string> holder(const std::filesystem::path& file);

  private:
    FileDescriptor fd_;
};

}  // namespace assay::runner
