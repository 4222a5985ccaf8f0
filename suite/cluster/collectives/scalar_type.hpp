// Elements of collectives as libtorch calls them.
#pragma once

#include <c10/core/ScalarType.h>

#include <stdexcept>

#include "suite/cluster/collectives/communicator.hpp"

namespace assay::cluster {

inline c10::ScalarType scalar_type(Dtype dtype) {
    switch (dtype) {
        case Dtype::u8:
            return c10::kByte;
        case Dtype::i64:
            return c10::kLong;
        case Dtype::f32:
            return c10::kFloat;
        case Dtype::f64:
            return c10::kDouble;
        case Dtype::bf16:
            return c10::kBFloat16;
    }
    throw std::invalid_argument("unknown dtype");
}

}  // namespace assay::cluster
