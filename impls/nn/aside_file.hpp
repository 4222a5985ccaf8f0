// A file that appears whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>

namespace assay::nn {

/// Writes go to FILE.part; publish() syncs them, gives the file its name and syncs the folder. A
/// kill at any moment leaves what was there before, or the new file. Without publish() nothing is
/// left. Errors are std::system_error with the file's name.
class AsideFile {
  public:
    /// `full`: an injected fault, the writes go to a device that is always full.
    explicit AsideFile(std::filesystem::path file, bool full = false);
    ~AsideFile();
    AsideFile(const AsideFile&) = delete;
    AsideFile& operator=(const AsideFile&) = delete;

    void write(const void* data, std::size_t size);
    void publish();

  private:
    [[noreturn]] void fail() const;

    std::filesystem::path file_, aside_;
    int fd_ = -1;
};

}  // namespace assay::nn
