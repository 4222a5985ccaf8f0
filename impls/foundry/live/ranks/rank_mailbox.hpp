// How the processes of a group give each other open files: a datagram socket of each rank in their
// folder.
#pragma once

#include <chrono>
#include <filesystem>
#include <utility>

#include "suite/base/file_descriptor.hpp"

namespace assay::foundry {

class RankMailbox {
  public:
    using Deadline = std::chrono::steady_clock::time_point;
    /// The socket of that rank; the folder is made where it is not there. Throws std::system_error.
    RankMailbox(const std::filesystem::path& folder, int rank);

    /// Waits until that rank's socket is there. False: it was not in time.
    bool give(int to, const FileDescriptor& file, Deadline deadline) const;
    /// The next file that was given, and by whom; -1: none came in time.
    std::pair<int, FileDescriptor> take(Deadline deadline) const;

  private:
    int rank_;
    FileDescriptor folder_, socket_;
};

}  // namespace assay::foundry
