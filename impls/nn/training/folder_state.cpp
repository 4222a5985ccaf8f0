#include "impls/nn/training/folder_state.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <system_error>
#include <utility>

#include "impls/nn/training/sealed_file.hpp"

namespace assay::nn {

void FolderState::save(const std::string& name, const std::function<void(std::ostream&)>& write) {
    try {
        std::filesystem::create_directories(folder_);
        write_sealed(folder_ / (name + ".state"), write);
    } catch (const std::system_error& error) {
        if (std::exchange(warned_, true)) return;
        fmt::print(stderr,
                   "warning: the state of training \"{}\" cannot be kept in {} ({}); it goes on, "
                   "but once interrupted starts from what was kept before. Free space there or "
                   "give another folder.\n",
                   name, folder_.string(), error.code().message());
    }
}

bool FolderState::load(const std::string& name, const std::function<void(std::istream&)>& read) {
    return read_sealed(folder_ / (name + ".state"), read);
}

}  // namespace assay::nn
