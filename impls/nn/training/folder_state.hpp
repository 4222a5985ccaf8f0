// States of trainings as files of one folder.
#pragma once

#include <filesystem>

#include "impls/nn/training/training_loop.hpp"

namespace assay::nn {

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

  private:
    std::filesystem::path folder_;
    bool warned_ = false;
};

}  // namespace assay::nn
