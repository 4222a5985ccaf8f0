// An archive of graphs and their kernels: a folder, written once and whole, read where it lies.
//
//     manifest.sha256  of all other files, for `sha256sum -c`
//     manifest.json    what it was made of, length and SHA-256 of the files below
//     images.bin       kernel binaries; images.idx says which they are and where
//     graphs.bin       templates; deltas.bin what makes the other graphs of them
//     memory.trace     what was allocated when they were captured, where that is known
//
// Equal input gives equal bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impls/foundry/method/archive/graph_encoder.hpp"
#include "impls/foundry/method/archive/graph_store.hpp"
#include "impls/foundry/method/archive/image_index.hpp"
#include "impls/foundry/method/archive/manifest.hpp"
#include "suite/base/bytes.hpp"

namespace assay::foundry {

class Archive {
  public:
    /// Maps the files and checks lengths and SHA-256 of all before any is used. Throws
    /// DamagedArchive, and UserError where a file cannot be read or is of another version.
    explicit Archive(const std::filesystem::path& folder);

    const GraphStore& graphs() const { return *graphs_; }
    const std::vector<StoredImage>& images() const { return images_; }
    /// Aligned to 16 bytes, with a zero behind it: as drivers take it.
    std::span<const std::byte> content(const StoredImage& image) const {
        return images_file_.view().subspan(image.offset, image.bytes);
    }
    const Manifest& manifest() const { return manifest_; }
    /// As method/memory/trace.hpp reads it; nullopt: there is none.
    std::optional<std::string_view> trace() const;
    std::uint64_t bytes() const { return bytes_; }  ///< of all files

  private:
    Manifest manifest_;
    Bytes images_file_, graphs_file_, deltas_file_, trace_file_;
    std::vector<StoredImage> images_;
    std::unique_ptr<const GraphStore> graphs_;
    std::uint64_t bytes_ = 0;
};

struct ImageToStore {
    std::string sha256;
    std::span<const std::byte> content;
    Image image;
};

struct ArchiveContent {
    const GraphEncoder& graphs;
    std::vector<ImageToStore> images = {};  ///< by rising SHA-256, as they will be stored
    std::optional<Fingerprint> fingerprint = {};
    std::optional<SavedRegion> region = {};
    std::string trace = {};  ///< that the region was made by; empty: none
    std::vector<GoldenResult> golden = {};
    std::optional<RankTags> ranks = {};  ///< of whose graphs these are
};

/// Hears of a file before it is written, and of the folder before it gets its name.
using WriteStep = std::function<void(const std::filesystem::path&)>;

/// Throws UserError when `folder` is there already or cannot be made.
void refuse_existing(const std::filesystem::path& folder);

/// Removes what a process that was killed while it wrote `folder` left beside it.
void remove_unfinished(const std::filesystem::path& folder);

/// Writes to .FOLDER.assay-part beside it, which is removed when anything throws, `step` included;
/// what is unfinished there is removed first. Then it gets the name FOLDER. Throws UserError when
/// that is there already, or a write fails.
void write_archive(const std::filesystem::path& folder, const ArchiveContent& content,
                   const WriteStep& step = {});

}  // namespace assay::foundry
