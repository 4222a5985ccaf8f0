// A tensor as a file stores it: type, size, conversion to floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::nn {

/// How a tensor's elements are stored. The q types are GGUF's blocks of 32 weights: q8_0 is
/// w = d·q (f16 d, 32 int8), q4_0 is w = d·(q − 8), q4_1 is w = d·q + m (f16 d, f16 m).
enum class TensorType { f32, f16, bf16, q8_0, q4_0, q4_1 };

ASSAY_NAMES(TensorType, f32, f16, bf16, q8_0, q4_0, q4_1)

struct BlockSize {
    std::int64_t elements;
    std::size_t bytes;
};
/// How many elements and bytes make one unit of storage.
BlockSize block_size(TensorType);
/// Bytes of `elements` elements; elements must be a multiple of 32 for the q types.
std::size_t stored_bytes(TensorType, std::int64_t elements);

class UntrustedFile;  // untrusted_file.hpp

struct TensorEntry {
    std::string name;
    TensorType type = TensorType::f32;
    std::vector<std::int64_t> shape;  ///< outermost first (GGUF's own order is reversed on reading)
    const UntrustedFile* file = nullptr;  ///< who made the entry keeps it
    std::uint64_t offset = 0;             ///< of its first byte in the file
    std::size_t bytes = 0;                ///< little-endian

    std::int64_t elements() const;
};

// Reading throws UserError when the file has become shorter or cannot be read, std::out_of_range
// beyond the tensor's end.

/// The bytes [first, first + out.size()) of a tensor as they are stored.
void read_bytes(const TensorEntry&, std::size_t first, std::span<std::byte> out);
/// Converts the elements [first, first + out.size()) of a tensor to floats, exactly (every stored
/// value is a float). For q types both ends must be multiples of 32.
void to_floats(const TensorEntry&, std::int64_t first, std::span<float> out);

/// The same for elements that begin at `bytes`, whole units of storage.
void to_floats(TensorType type, const std::byte* bytes, std::span<float> out);

/// Round to nearest even.
std::uint16_t to_bfloat16(float);
float from_bfloat16(std::uint16_t);
float from_float16(std::uint16_t);

// What the tensors of a file must satisfy whatever the format.

/// Elements of a tensor of this shape that lies in a file of `file_bytes`. Throws UserError when an
/// extent is negative, or the product does not fit the file (so it never overflows).
std::int64_t checked_elements(std::string_view file, const TensorEntry& tensor,
                              std::size_t file_bytes);
/// Its bytes. Throws UserError also when a row is not a whole number of blocks.
std::size_t checked_bytes(std::string_view file, const TensorEntry& tensor, std::size_t file_bytes);
/// Throws UserError when two tensors share a name or a byte.
void check_apart(std::string_view file, const std::vector<TensorEntry>& tensors);

}  // namespace assay::nn
