#include "kernels/cpu/random_weights.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <utility>

#include "kernels/cpu/element_types.hpp"

namespace assay::kernels {
namespace {

constexpr int weights = 31'253 * weights_per_quantised_block;

// 2^-n as a 16-bit float, n in 0 … 14.
constexpr std::uint16_t half_power(unsigned n) {
    return static_cast<std::uint16_t>((15 - n) << 10);
}

class Pattern {
  public:
    Pattern(AssayType type, std::uint64_t seed) : type_(type), random_(seed) {
        bytes_.reserve(row_bytes(type, weights));
        for (int i = 0; i < weights; i += weights_per_unit(type)) put_unit();
    }
    std::vector<std::byte> take() { return std::move(bytes_); }

  private:
    template <class Number>
    void put(Number value) {
        const auto bytes = std::bit_cast<std::array<std::byte, sizeof(Number)>>(value);
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }

    void put_unit() {
        const std::uint64_t drawn = random_();
        // A random sign, 23 random bits of fraction, one of four exponents.
        const std::uint32_t sign = static_cast<std::uint32_t>(drawn >> 32) & 0x80000000U;
        const auto power = static_cast<std::uint32_t>(6 + (drawn >> 32) % 4);
        const std::uint32_t bits =
            sign | (127 - power) << 23 | (static_cast<std::uint32_t>(drawn) & 0x7fffffU);
        switch (type_) {
            case ASSAY_F32:
                return put(bits);
            case ASSAY_BF16:
                return put(static_cast<std::uint16_t>(bits >> 16));
            case ASSAY_F16:
                return put(static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | half_power(power) |
                                                      (bits >> 13 & 0x3ffU)));
            default:
                return put_block();
        }
    }
    // A scale (q4_1: a minimum of minus eight times the scale too), and 32 bytes or nibbles.
    void put_block() {
        const bool whole_bytes = type_ == ASSAY_Q8_0;
        put(half_power(whole_bytes ? 12 : 8));
        if (type_ == ASSAY_Q4_1) put(static_cast<std::uint16_t>(0x8000U | half_power(5)));
        for (int word = 0; word < (whole_bytes ? 4 : 2); ++word) put(std::uint64_t{random_()});
    }

    AssayType type_;
    std::mt19937_64 random_;
    std::vector<std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> random_weight_pattern(AssayType type, std::uint64_t seed) {
    return Pattern(type, seed).take();
}

void repeat_pattern(std::span<const std::byte> pattern, std::span<std::byte> memory) {
    for (std::size_t at = 0; at < memory.size(); at += pattern.size())
        std::memcpy(memory.data() + at, pattern.data(),
                    std::min(pattern.size(), memory.size() - at));
}

}  // namespace assay::kernels
