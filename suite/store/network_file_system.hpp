// Where a WAL database must not live: its shared memory and locks do not work between hosts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace assay::store {

/// Name of the network file system, or nullopt for a local one. `magic` is statfs' f_type;
/// `mount_type` the type in the mount table, which alone tells FUSE file systems apart.
std::optional<std::string> network_file_system(unsigned long magic, std::string_view mount_type);

/// StoreError when `folder`, which exists, lies on a network file system.
void refuse_network_file_system(const std::filesystem::path& file,
                                const std::filesystem::path& folder);

}  // namespace assay::store
