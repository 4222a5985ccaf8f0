#include "impls/nn/training/folder_state.hpp"

#include "impls/nn/training/sealed_file.hpp"

namespace assay::nn {

void FolderState::save(const std::string& name, const std::function<void(std::ostream&)>& write) {
    std::filesystem::create_directories(folder_);
    write_sealed(folder_ / (name + ".state"), write);
}

bool FolderState::load(const std::string& name, const std::function<void(std::istream&)>& read) {
    return read_sealed(folder_ / (name + ".state"), read);
}

}  // namespace assay::nn
