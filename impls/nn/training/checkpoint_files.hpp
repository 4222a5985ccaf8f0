// Checkpoints of trainings as files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <utility>

#include "impls/nn/training/training_loop.hpp"
#include "suite/base/file_descriptor.hpp"

namespace assay::nn {

/// Writes go to FILE.part; publish() gives the file its name (suite/base/durable_file.hpp). A kill
/// at any moment leaves what was there before, or the new file. Without publish() nothing is left.
/// Errors are std::system_error with the file's name.
class AtomicFile {
  public:
    /// `full`: an injected fault, the writes go to a device that is always full.
    explicit AtomicFile(std::filesystem::path file, bool full = false);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(const void* data, std::size_t size);
    void publish();

  private:
    std::filesystem::path file_, aside_;
    FileDescriptor descriptor_;
};

/// FOLDER/<name>.state, written aside, synced, renamed; a digest at the end tells a torn file,
/// which counts as not there. The folder is made when first needed.
///
/// A state that cannot be written (a full disk, no such folder) ends no training: it is left out,
/// the one before stays, and the first time a line on stderr says so.
class FolderState : public StateKeeper {
  public:
    explicit FolderState(std::filesystem::path folder) : folder_(std::move(folder)) {}
    void save(const std::string& name, const std::function<void(std::ostream&)>& write) override;
    bool load(const std::string& name, const std::function<void(std::istream&)>& read) override;
    /// A lock on FOLDER/<name>.lock, gone with the process in whatever way it ends. Where it cannot
    /// be had (no such folder), none: what is made twice is only made twice.
    std::shared_ptr<void> hold(const std::string& name) override;

  private:
    std::filesystem::path folder_;
    bool warned_ = false;
};

}  // namespace assay::nn
