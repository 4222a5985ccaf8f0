// What the tensors of a file must satisfy whatever the format.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "impls/nn/files/tensor_file.hpp"

namespace assay::nn {

/// Bytes of a tensor of `type` and `shape` that lies in a file of `file_bytes`. Throws UserError
/// when an extent is negative, the product does not fit the file (so it never overflows), or a row
/// is not a whole number of blocks.
std::size_t checked_bytes(std::string_view file, const TensorEntry& tensor, std::size_t file_bytes);

/// Throws UserError when two tensors share a name or a byte.
void check_apart(std::string_view file, const std::vector<TensorEntry>& tensors);

}  // namespace assay::nn
