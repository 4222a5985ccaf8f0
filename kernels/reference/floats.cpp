#include "kernels/reference/floats.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/element_types.hpp"

namespace assay::kernels::reference {
namespace {

std::uint16_t bits_at(const std::byte* from) {
    std::uint16_t bits;
    std::memcpy(&bits, from, sizeof bits);
    return bits;
}

int nibble(const std::byte* bytes, int index) {
    const int byte = static_cast<int>(bytes[index % 16]);
    return index < 16 ? byte % 16 : byte / 16;
}

std::uint16_t random_half(std::mt19937_64& random, int least_exponent, int exponents) {
    const std::uint64_t draw = random();
    const auto exponent = least_exponent + static_cast<int>((draw >> 16) % exponents);
    return static_cast<std::uint16_t>((draw & 0x83ffu) | static_cast<unsigned>(exponent) << 10);
}

}  // namespace

double from_half(std::uint16_t bits) {
    const double sign = bits & 0x8000u ? -1 : 1;
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    if (exponent == 31)
        return sign * (mantissa ? std::numeric_limits<double>::quiet_NaN()
                                : std::numeric_limits<double>::infinity());
    if (exponent == 0) return sign * std::ldexp(mantissa, -24);
    return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

double weight_at(AssayType type, const std::byte* row, std::int64_t column) {
    const auto block = static_cast<std::size_t>(column / weights_per_unit(type));
    const std::byte* const at = row + block * static_cast<std::size_t>(bytes_per_unit(type));
    const int index = static_cast<int>(column % weights_per_quantised_block);
    switch (type) {
        case ASSAY_F32: {
            float value;
            std::memcpy(&value, at, sizeof value);
            return value;
        }
        case ASSAY_F16:
            return from_half(bits_at(at));
        case ASSAY_BF16: {
            const std::uint32_t bits = static_cast<std::uint32_t>(bits_at(at)) << 16;
            float value;
            std::memcpy(&value, &bits, sizeof value);
            return value;
        }
        case ASSAY_Q8_0: {
            std::int8_t q;
            std::memcpy(&q, at + 2 + index, 1);
            return from_half(bits_at(at)) * q;
        }
        case ASSAY_Q4_0:
            return from_half(bits_at(at)) * (nibble(at + 2, index) - 8);
        case ASSAY_Q4_1:
            return from_half(bits_at(at)) * nibble(at + 4, index) + from_half(bits_at(at + 2));
    }
    return std::numeric_limits<double>::quiet_NaN();
}

void fill_with_random_weights(AssayType type, std::byte* to, std::size_t bytes,
                              std::mt19937_64& random) {
    const auto unit = static_cast<std::size_t>(bytes_per_unit(type));
    const auto put_half = [&](std::byte* at, int least_exponent, int exponents) {
        const std::uint16_t half = random_half(random, least_exponent, exponents);
        std::memcpy(at, &half, sizeof half);
    };
    for (std::size_t at = 0; at + unit <= bytes; at += unit) {
        std::byte* const here = to + at;
        if (type == ASSAY_F16) {
            put_half(here, 0, 15);  // denormals too
        } else if (type == ASSAY_F32 || type == ASSAY_BF16) {
            const float value =
                static_cast<float>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
            std::memcpy(here, reinterpret_cast<const std::byte*>(&value) + (4 - unit), unit);
        } else {
            for (std::size_t byte = 0; byte < unit; ++byte)
                here[byte] = static_cast<std::byte>(random() >> 56);
            put_half(here, type == ASSAY_Q8_0 ? 2 : 5, 5);
            if (type == ASSAY_Q4_1) put_half(here + 2, 8, 6);
        }
    }
}

std::vector<std::byte> random_weights(AssayType type, std::int64_t rows, std::int64_t columns,
                                      std::mt19937_64& random, std::size_t skip) {
    const std::size_t bytes = static_cast<std::size_t>(rows) * row_bytes(type, columns);
    std::vector<std::byte> weights(skip + bytes);
    fill_with_random_weights(type, weights.data() + skip, bytes, random);
    return weights;
}

std::vector<float> random_floats(std::size_t count, std::mt19937_64& random) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> values(count);
    for (float& value : values) value = uniform(random);
    return values;
}

}  // namespace assay::kernels::reference
