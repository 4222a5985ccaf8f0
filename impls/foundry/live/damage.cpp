#include "impls/foundry/live/damage.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <vector>

namespace assay::foundry {
namespace {

namespace fs = std::filesystem;

/// In the order of their names, so that equal draws mean equal files.
fs::path any_file(const fs::path& archive, Draw& draw) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(archive)) files.push_back(entry.path());
    std::ranges::sort(files);
    return files.at(draw.below(files.size()));
}

}  // namespace

void flip_bit(const fs::path& path, std::int64_t at, int bit) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ (1 << bit)));
}

void flip_a_bit(const fs::path& archive, Draw& draw) {
    const fs::path path = any_file(archive, draw);
    const auto at = static_cast<std::int64_t>(draw.below(fs::file_size(path)));
    flip_bit(path, at, static_cast<int>(draw.below(8)));
}

void cut_short(const fs::path& archive, Draw& draw) {
    const fs::path path = any_file(archive, draw);
    fs::resize_file(path, draw.below(fs::file_size(path)));
}

DamagedCopy::DamagedCopy(const fs::path& archive, Draw& draw)
    : path_(fmt::format("{}.of-{}", archive.string(), ::getpid())) {
    fs::copy(archive, path_);
    flip_a_bit(path_, draw);
}

DamagedCopy::~DamagedCopy() {
    std::error_code error;
    fs::remove_all(path_, error);
}

}  // namespace assay::foundry
