// Random weights of a shape, for latency alone: a pattern of a million weights, repeated, since
// gigabytes of fresh ones would take long and run no differently.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "impls/decode/weight_source.hpp"
#include "impls/nn/counter_hash.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "kernels/cpu/element_types.hpp"

namespace assay::decode {
namespace {

// 2^-n as a 16-bit float, n in 0 … 14.
std::uint16_t half_power(int n) { return static_cast<std::uint16_t>((15 - n) << 10); }

template <class Number>
void put(std::vector<std::byte>& out, Number value) {
    const auto bytes = std::bit_cast<std::array<std::byte, sizeof(Number)>>(value);
    out.insert(out.end(), bytes.begin(), bytes.end());
}

class RandomSource final : public WeightSource {
  public:
    RandomSource(AssayType type, std::uint64_t seed) : type_(type) {
        constexpr int weights = 1 << 20;
        for (int i = 0; i < weights; i += kernels::weights_per_unit(type))
            put_unit(nn::counter_hash(seed * weights + static_cast<std::uint64_t>(i)));
    }

    AssayType type_of(std::string_view) const override { return type_; }

    void rows(std::string_view, AssayType, std::span<std::byte> out) const override {
        for (std::size_t at = 0; at < out.size(); at += pattern_.size())
            std::memcpy(out.data() + at, pattern_.data(),
                        std::min(pattern_.size(), out.size() - at));
    }

    void floats(std::string_view name, std::span<float> out) const override {
        std::fill(out.begin(), out.end(), name.ends_with("norm") ? 1.0f : 0.0f);
    }

  private:
    // Weights between about −2^-5 and 2^-5.
    void put_unit(std::uint64_t random) {
        constexpr int power = 5;
        const float value =
            std::ldexp(static_cast<float>(static_cast<std::int32_t>(random)), -31 - power);
        switch (type_) {
            case ASSAY_F32:
                return put(pattern_, value);
            case ASSAY_BF16:
                return put(pattern_, nn::to_bfloat16(value));
            case ASSAY_F16:
                // Ten random bits of fraction, a random sign, one of four exponents.
                return put(pattern_, static_cast<std::uint16_t>(
                                         (random & 0x83ff) | half_power(power + 1 + random % 4)));
            default:
                put_block(random);
        }
    }
    void put_block(std::uint64_t random) {
        const bool bytes = type_ == ASSAY_Q8_0;
        put(pattern_, half_power(bytes ? 12 : 8));
        // q4_1: minus eight times the scale.
        if (type_ == ASSAY_Q4_1) put(pattern_, static_cast<std::uint16_t>(0x8000 | half_power(5)));
        for (int word = 0; word < (bytes ? 4 : 2); ++word)
            put(pattern_, nn::counter_hash(random + static_cast<std::uint64_t>(word)));
    }

    AssayType type_;
    std::vector<std::byte> pattern_;
};

}  // namespace

std::unique_ptr<WeightSource> random_source(AssayType type, std::uint64_t seed) {
    return std::make_unique<RandomSource>(type, seed);
}

}  // namespace assay::decode
