// How many worker processes this machine has room for: what is asked before any is started.
#pragma once

#include <cstdint>
#include <filesystem>

namespace assay::measure {

/// Throws NotSupportedHere, with the limit that stands in the way, where the machine has not the
/// memory, the file descriptors or the processes for so many workers and those that join them:
/// MemAvailable, RLIMIT_NOFILE, RLIMIT_NPROC, the kernel's and the control groups' limits. Each is
/// taken for the least that one needs, so that what passes may still be too many. `root`: a test's
/// own tree.
void require_room_for_workers(std::int64_t workers, std::int64_t joining = 0,
                              const std::filesystem::path& root = "/");

}  // namespace assay::measure
