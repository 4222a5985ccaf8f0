#include "impls/foundry/method/archive/image_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "suite/base/error.hpp"
#include "suite/base/sha256.hpp"

namespace assay::foundry {
namespace {

namespace fs = std::filesystem;

std::string hash_of(const Bytes& bytes, std::uint64_t first) {
    return sha256_hex({reinterpret_cast<const char*>(bytes.view().data()), first});
}

std::vector<fs::path> files_of(const fs::path& folder) {
    std::vector<fs::path> files;
    try {
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.is_regular_file()) files.push_back(entry.path());
    } catch (const fs::filesystem_error& error) {
        throw UserError(fmt::format("--images {}: {}; give a folder of kernel binaries",
                                    folder.string(), error.code().message()));
    }
    std::ranges::sort(files);
    return files;
}

}  // namespace

ImageFolder::ImageFolder(const fs::path& folder) : folder_(folder) {
    for (const fs::path& file : files_of(folder)) {
        const Bytes bytes = Bytes::of_file(file);
        files_.emplace(hash_of(bytes, bytes.size()), file);
    }
}

const ImageFolder::Found* ImageFolder::find(const std::string& sha256) {
    if (const auto known = used_.find(sha256); known != used_.end()) return &known->second;
    const auto use = [&](const fs::path& file, bool whole) {
        Found found{.file = file, .bytes = Bytes::of_file(file), .image = {}, .why = {}};
        found.stored_bytes = found.bytes.size();
        try {
            found.image = read_image(found.bytes.view());
            if (!whole) found.stored_bytes = found.image->bytes;
        } catch (const ImageError& error) {
            found.why = error.what();
        }
        return &used_.emplace(sha256, std::move(found)).first->second;
    };
    if (const auto file = files_.find(sha256); file != files_.end()) return use(file->second, true);
    if (!std::exchange(extents_known_, true)) find_extents();
    if (const auto file = extents_.find(sha256); file != extents_.end())
        return use(file->second, false);
    return nullptr;
}

void ImageFolder::find_extents() {
    for (const auto& [whole, file] : files_) {
        const Bytes bytes = Bytes::of_file(file);
        try {
            const std::uint64_t extent = read_image(bytes.view()).bytes;
            if (extent < bytes.size()) extents_.emplace(hash_of(bytes, extent), file);
        } catch (const ImageError&) {
            // Not an image, or damaged: nothing that a graph could mean.
        }
    }
}

std::string ImageFolder::wrong_with(const Launch& launch) {
    const Found* const found = find(launch.image);
    if (found == nullptr)
        return fmt::format("image: {} holds no file whose SHA-256 is {}; put it there",
                           folder_.string(), launch.image);
    if (!found->image) return fmt::format("image: {}: {}", found->file.string(), found->why);
    const auto kernel = find_kernel(*found->image, launch.name);
    if (!kernel)
        return knows_kernels(*found->image)
                   ? fmt::format(
                         "name: its image {} has no kernel {}; `assay plan foundry --image` "
                         "lists those it has",
                         found->file.string(), launch.name)
                   : "";
    if (launch.params.size() < kernel->least_params_bytes)
        return fmt::format("params: {} bytes, and {} takes {}", launch.params.size(), launch.name,
                           kernel->least_params_bytes);
    return "";
}

void ImageFolder::check(const Graph& graph, const std::string& place) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (graph.nodes[i].type != NodeType::kernel) continue;
        if (const std::string wrong = wrong_with(graph.nodes[i].launch); !wrong.empty())
            throw UserError(fmt::format("{}: nodes[{}].{}", place, i, wrong));
    }
}

std::vector<ImageToStore> ImageFolder::used() const {
    std::vector<ImageToStore> images;
    for (const auto& [sha256, found] : used_)
        images.push_back({.sha256 = sha256,
                          .content = found.bytes.view().first(found.stored_bytes),
                          .image = found.image.value()});
    return images;
}

}  // namespace assay::foundry
