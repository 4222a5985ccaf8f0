// Writes safetensors (github.com/huggingface/safetensors) piece by piece: tensors larger than the
// memory, whose parts come in another order than they lie in the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "suite/base/file_descriptor.hpp"

namespace assay::nn {

struct FloatTensor {
    std::string name;
    std::vector<std::int64_t> shape;
};

/// Of 32-bit floats. What is never written is zero. The file appears under its name when publish()
/// is called; without that nothing is left. Throws UserError when it cannot be written.
class SafetensorsWriter {
  public:
    /// The tensors lie in this order. metadata: the format's __metadata__.
    SafetensorsWriter(std::filesystem::path path, const std::vector<FloatTensor>& tensors,
                      const std::map<std::string, std::string>& metadata);
    ~SafetensorsWriter();
    SafetensorsWriter(const SafetensorsWriter&) = delete;
    SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;

    /// `first`: element of the tensor, counted in its memory order. Throws std::out_of_range for
    /// elements that the tensor does not have.
    void write(std::size_t tensor, std::int64_t first, std::span<const float> values);
    void publish();

    std::uint64_t bytes() const { return bytes_; }  ///< of the whole file

  private:
    [[noreturn]] void refuse() const;
    void write_at(std::uint64_t offset, const void* data, std::size_t size);

    struct Extent {
        std::uint64_t offset;  ///< in the file
        std::int64_t elements;
    };
    std::filesystem::path path_, aside_;
    FileDescriptor file_;
    std::vector<Extent> extents_;
    std::uint64_t bytes_ = 0;
};

}  // namespace assay::nn
