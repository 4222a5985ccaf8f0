#include "impls/lte/experiments/weight_pattern.hpp"

#include <algorithm>
#include <cstring>
#include <random>

namespace assay::lte {

std::size_t element_bytes(AssayType type) { return type == ASSAY_F32 ? 4 : 2; }

WeightPattern::WeightPattern(AssayType type, std::uint64_t seed) : bytes_(1 << 20) {
    std::mt19937_64 random(seed);
    const std::size_t step = element_bytes(type);
    for (std::size_t at = 0; at < bytes_.size(); at += step) {
        // Sign, and magnitudes from 2^-8 to 2^-6.
        const auto bits = static_cast<std::uint32_t>(random());
        const std::uint32_t exponent = 127 - 8 + (bits & 1);
        const std::uint32_t value = (bits & 0x80000000U) | exponent << 23 | (bits >> 8 & 0x7fffff);
        if (type == ASSAY_F32) {
            std::memcpy(&bytes_[at], &value, 4);
        } else {
            const auto half =
                type == ASSAY_BF16
                    ? static_cast<std::uint16_t>(value >> 16)
                    : static_cast<std::uint16_t>((bits & 0x8000) | 0x1c00 | (bits >> 16 & 0x7ff));
            std::memcpy(&bytes_[at], &half, 2);
        }
    }
}

TimedDevice::Memory WeightPattern::copies(const TimedDevice& device, std::size_t bytes) const {
    TimedDevice::Memory memory = device.allocate(bytes);
    const std::size_t first = std::min(bytes_.size(), bytes);
    device.must(device.kernels().upload(device.context(), memory.get(), bytes_.data(), first));
    repeat_pattern(device, memory.get(), first, bytes);
    return memory;
}

}  // namespace assay::lte
