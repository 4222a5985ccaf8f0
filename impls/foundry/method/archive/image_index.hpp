// images.idx: which kernel binaries images.bin holds, where, and what each is, so that a loader
// need not read them to know their kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "impls/foundry/method/archive/section_file.hpp"
#include "impls/foundry/method/images/image.hpp"

namespace assay::foundry {

struct StoredImage {
    std::string sha256;
    std::uint64_t offset = 0, bytes = 0;  ///< in images.bin; zeros follow, at least one
    Image image;

    bool operator==(const StoredImage&) const = default;
};

void write_image_index(std::span<const StoredImage> images, const ByteSink& sink);

/// `images_bytes`: the length of images.bin, in which they must lie. DamagedArchive.
std::vector<StoredImage> read_image_index(std::span<const std::byte> file, const std::string& name,
                                          std::uint64_t images_bytes);

}  // namespace assay::foundry
