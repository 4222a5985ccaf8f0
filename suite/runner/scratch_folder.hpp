// A sample's own folder for temporary files, removed afterwards.
#pragma once

#include <filesystem>

namespace assay::runner {

class ScratchFolder {
  public:
    /// Below TMPDIR or /tmp; the name carries our process id, so that remove_abandoned() can tell.
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

    /// Removes the scratch folders that runners killed by SIGKILL left behind. Returns how many.
    static int remove_abandoned();

  private:
    std::filesystem::path path_;
};

}  // namespace assay::runner
