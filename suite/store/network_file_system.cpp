// Where a WAL database must not live.
#include "suite/store/network_file_system.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "suite/store/store.hpp"

namespace assay::store {
namespace {

struct Known {
    unsigned long magic;
    const char* name;
};
// From statfs(2) and linux/magic.h; some file systems define theirs in their own sources only.
constexpr std::array<Known, 13> by_magic = {{{0x6969, "NFS"},
                                             {0x517b, "SMB"},
                                             {0xff534d42, "CIFS"},
                                             {0xfe534d42, "SMB2"},
                                             {0x5346414f, "AFS"},
                                             {0x6b414653, "AFS"},
                                             {0x73757245, "Coda"},
                                             {0x564c, "NCP"},
                                             {0x00c36400, "Ceph"},
                                             {0x0bd00bd0, "Lustre"},
                                             {0x47504653, "GPFS"},
                                             {0x19830326, "BeeGFS"},
                                             {0x7461636f, "OCFS2"}}};
constexpr unsigned long fuse_magic = 0x65735546;
// FUSE also serves local disks (NTFS, overlay, MergerFS), so only those known to be remote count.
constexpr std::array<std::string_view, 14> remote_fuse = {
    "sshfs",  "s3fs",   "gcsfuse",  "rclone",  "glusterfs", "ceph",     "davfs",
    "curlft", "goofys", "blobfuse", "juicefs", "moosefs",   "mount-s3", "hdfs"};

/// The type column of the mount whose device number is that of `folder`.
std::string mount_type(const std::filesystem::path& folder) {
    struct stat info {};
    if (stat(folder.c_str(), &info) != 0) return {};
    const auto device = fmt::format("{}:{}", major(info.st_dev), minor(info.st_dev));
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream fields(line);
        std::string id, parent, number;
        fields >> id >> parent >> number;
        const auto separator = line.find(" - ");
        if (number != device || separator == std::string::npos) continue;
        return line.substr(separator + 3, line.find(' ', separator + 3) - separator - 3);
    }
    return {};
}

}  // namespace

std::optional<std::string> network_file_system(unsigned long magic, std::string_view mount_type) {
    for (const auto& known : by_magic)
        if (known.magic == magic) return known.name;
    if (magic == fuse_magic)
        for (const auto name : remote_fuse)
            if (mount_type.find(name) != std::string_view::npos) return std::string(mount_type);
    return std::nullopt;
}

void refuse_network_file_system(const std::filesystem::path& file,
                                const std::filesystem::path& folder) {
    struct statfs info {};
    if (statfs(folder.c_str(), &info) != 0) return;  // opening the file will say what is wrong
    // f_type is signed and sign-extended on some architectures; every magic number has 32 bits.
    const auto magic = static_cast<unsigned long>(info.f_type) & 0xffffffffUL;
    if (const auto name = network_file_system(magic, mount_type(folder)))
        throw StoreError(fmt::format(
            "{}: the folder lies on a network file system ({}), where the database could be "
            "damaged by "
            "two hosts. Name a file on a local disk with --db or ASSAY_DB; to read results made "
            "elsewhere, copy the file to a local disk first.",
            file.string(), *name));
}

}  // namespace assay::store
