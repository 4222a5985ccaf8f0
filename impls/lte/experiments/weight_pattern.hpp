// Weights that are as good as random for speed, in gigabytes and in a moment.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/lte/experiments/timed_device.hpp"

namespace assay::lte {

/// 4 for f32, 2 for f16 and bf16.
std::size_t element_bytes(AssayType type);

/// Small random weights: a megabyte of them, repeated. No denormals, which would slow arithmetic
/// down.
class WeightPattern {
  public:
    WeightPattern(AssayType type, std::uint64_t seed);
    TimedDevice::Memory copies(const TimedDevice& device, std::size_t bytes) const;

  private:
    std::vector<std::byte> bytes_;
};

}  // namespace assay::lte
