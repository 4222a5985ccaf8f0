// The machine-wide lock that keeps two measured runs apart, whoever starts them.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "suite/base/file_descriptor.hpp"

namespace assay::runner {

/// How long to wait for whoever holds it.
struct LockWait {
    double most_s = 0;
    double look_s = 0.5;
    /// Before each wait for the next look; may be null.
    std::function<void(double waited_s, const std::string& holder)> tell = {};
};

/// Held until destroyed, or until the process dies in whatever way.
class MachineLock {
  public:
    /// ASSAY_LOCK, else a file in /run/lock, else in /tmp: places that all users of a machine
    /// share.
    static std::filesystem::path default_path();

    /// Throws UserError that names the holder when another process has it, and keeps it for as long
    /// as `wait` says. `what` is told to others who ask.
    MachineLock(const std::filesystem::path& file, const std::string& what,
                const LockWait& wait = {});

    /// Who holds it ("process 4711: assay run …"), or nullopt: nobody.
    static std::optional<std::string> holder(const std::filesystem::path& file);

  private:
    FileDescriptor fd_;
};

}  // namespace assay::runner
