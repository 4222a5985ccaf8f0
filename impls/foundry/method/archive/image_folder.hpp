// The kernel binaries that graphs launch from, as files of a folder, whatever their names: a graph
// calls an image by its SHA-256.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "impls/foundry/method/archive/archive.hpp"
#include "impls/foundry/method/graphs/graph.hpp"
#include "impls/foundry/method/images/image.hpp"
#include "suite/base/bytes.hpp"

namespace assay::foundry {

class ImageFolder {
  public:
    /// Of the folder itself, without those within. UserError where it cannot be read. An image's
    /// hash is that of its file; where bytes follow the image's own extent, that of the extent, too
    /// (then the extent is what is stored).
    explicit ImageFolder(const std::filesystem::path& folder);

    /// Every kernel's image is there, is an image, has the kernel, and the launch's parameters are
    /// as long as the kernel's. Throws UserError, "PLACE: nodes[3].image: …". The images that
    /// graphs use are kept for used().
    void check(const Graph& graph, const std::string& place);

    /// By rising hash. Points into the mapped files, which live as long as this.
    std::vector<ImageToStore> used() const;

  private:
    struct Found {
        std::filesystem::path file;
        Bytes bytes;
        std::optional<Image> image;  ///< none: it is none, and `why`
        std::string why;
        std::size_t stored_bytes = 0;  ///< of what the hash was made
    };
    const Found* find(const std::string& sha256);
    void find_extents();
    std::string wrong_with(const Launch& launch);

    std::filesystem::path folder_;
    std::map<std::string, Found> used_;
    std::unordered_map<std::string, std::filesystem::path> files_;    ///< by the file's hash
    std::unordered_map<std::string, std::filesystem::path> extents_;  ///< by the extent's
    bool extents_known_ = false;
};

}  // namespace assay::foundry
