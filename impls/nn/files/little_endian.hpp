// Numbers out of unaligned little-endian bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace assay::nn {

static_assert(std::endian::native == std::endian::little,
              "tensors are read where they lie; a big-endian machine would have to swap them");

template <class Number>
Number little_endian(const std::byte* at) {
    static_assert(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>);
    Number number;
    std::memcpy(&number, at, sizeof number);
    return number;
}

}  // namespace assay::nn
