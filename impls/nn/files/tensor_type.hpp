// How many elements and bytes make one unit of storage.
#pragma once

#include <cstddef>
#include <cstdint>

#include "impls/nn/files/tensor_file.hpp"

namespace assay::nn {

struct BlockSize {
    std::int64_t elements;
    std::size_t bytes;
};
BlockSize block_size(TensorType);

}  // namespace assay::nn
