// A version of weights in a safetensors file whose tensors are all bf16. They may lie in the file
// in any order; the version has them by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "impls/nn/files/stored_tensor.hpp"
#include "impls/nn/files/untrusted_file.hpp"
#include "impls/weights/layout.hpp"

namespace assay::weights {

class WeightsFile {
  public:
    /// Throws UserError: no safetensors file, malformed, a tensor of integers or of other floats.
    explicit WeightsFile(const std::filesystem::path& path);
    WeightsFile(const WeightsFile&) = delete;
    WeightsFile& operator=(const WeightsFile&) = delete;

    const std::string& name() const { return file_.name(); }
    const Layout& layout() const { return layout_; }

    // Throw UserError when the file has become shorter or cannot be read.

    /// Elements of layout().tensors()[tensor] from `first` on, as many as `out` has room for.
    void read(std::size_t tensor, std::uint64_t first, std::span<std::byte> out) const;
    /// Bytes of the file in front of its tensors, from `offset` on.
    void read_header(std::uint64_t offset, std::span<std::byte> out) const;

    /// Length and JSON, up to the first tensor.
    std::uint64_t header_bytes() const { return header_bytes_; }
    /// Of an element of layout().tensors()[tensor] in the file.
    std::uint64_t place(std::size_t tensor, std::uint64_t element) const {
        return tensors_[tensor].offset + element * element_bytes;
    }

  private:
    nn::UntrustedFile file_;
    std::vector<nn::TensorEntry> tensors_;  ///< as in layout_; they point to file_
    Layout layout_;
    std::uint64_t header_bytes_ = 0;
};

/// Throws UserError when the file cannot be read.
std::string digest_of(const WeightsFile& file);

/// Calls each(tensor, first, count) for stretches of a layout's tensors in the order of the
/// version: at most `most` elements from element `first` of the tensor on.
template <class Each>
void each_stretch(const Layout& layout, std::uint64_t most, Each&& each) {
    for (std::size_t tensor = 0; tensor < layout.tensors().size(); ++tensor) {
        const std::uint64_t elements = layout.tensors()[tensor].elements;
        for (std::uint64_t first = 0; first < elements; first += most)
            each(tensor, first, most < elements - first ? most : elements - first);
    }
}

}  // namespace assay::weights
