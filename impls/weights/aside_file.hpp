// A file that is written in any order and appears whole under its name, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "suite/base/file_descriptor.hpp"

namespace assay::weights {

/// Writes go to a file beside, which publish() gives the name (suite/base/durable_file.hpp): a file
/// of that name stays as it is until then, and a link stays a link. Without publish() nothing is
/// left. Throws UserError where it cannot be written, and for the name of a folder, device or pipe.
class AsideFile {
  public:
    explicit AsideFile(std::filesystem::path path);
    ~AsideFile();
    AsideFile(const AsideFile&) = delete;
    AsideFile& operator=(const AsideFile&) = delete;

    void write(std::uint64_t offset, std::span<const std::byte> bytes);
    void publish();

  private:
    [[noreturn]] void refuse(int error) const;

    std::filesystem::path path_, name_, aside_;  ///< as given; where it leads; while it is written
    FileDescriptor file_;
};

}  // namespace assay::weights
