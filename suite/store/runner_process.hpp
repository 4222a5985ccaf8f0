// Which process runs a session, for whoever wants to stop it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string_view>

namespace assay::store {

/// The process that holds the lock of a session's runner (RunnerLock): the kernel says so, not only
/// the number that was stored, which another process may have by now. nullopt: nobody holds it, or
/// it cannot be told, for the process is another user's or in another container. StoreError where
/// there is no such session (whole id).
std::optional<pid_t> runner_of(const std::filesystem::path& database, std::string_view session);

}  // namespace assay::store
