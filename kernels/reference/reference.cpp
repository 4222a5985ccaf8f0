#include "kernels/reference/reference.hpp"

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

Bounded dot(AssayType type, const std::byte* row, const float* x, int columns) {
    double sum = 0, magnitude = 0;
    for (int c = 0; c < columns; ++c) {
        const double product = weight_at(type, row, c) * x[c];
        sum += product;
        magnitude += std::fabs(product);
    }
    constexpr double half_unit = 0x1p-24;
    return {sum, (columns / 16 + 12) * half_unit * magnitude};
}

Bounded gemv_row(const AssayGemv& call, int row, int token) {
    const std::size_t bytes = row_bytes(call.type, call.columns);
    Bounded result =
        dot(call.type,
            static_cast<const std::byte*>(call.weights) + static_cast<std::size_t>(row) * bytes,
            call.x + static_cast<std::ptrdiff_t>(token) * call.columns, call.columns);
    if (call.bias) result.value += call.bias[row];
    result.error += std::fabs(result.value) * 0x1p-23;
    return result;
}

std::vector<Bounded> gemv(const AssayGemv& call) {
    std::vector<Bounded> y;
    for (int b = 0; b < call.batch; ++b)
        for (int r = 0; r < call.rows; ++r) y.push_back(gemv_row(call, r, b));
    return y;
}

namespace {

constexpr double half_unit = 0x1p-24;

/// A neuron's activation. Slopes of SiLU and GELU stay below 1.13; the formulas' own roundings are
/// a few units of the result, GELU's of its argument (1 + tanh cancels).
Bounded activation(const AssayFfn& ffn, std::size_t neuron, const float* x) {
    const std::size_t offset = neuron * row_bytes(ffn.type, ffn.width);
    Bounded up = dot(ffn.type, static_cast<const std::byte*>(ffn.up) + offset, x, ffn.width);
    if (ffn.up_bias) up.value += ffn.up_bias[neuron];
    up.error += std::fabs(up.value) * half_unit;
    constexpr double slope = 1.13, roundings = 16 * half_unit;
    switch (ffn.activation) {
        case ASSAY_SWIGLU: {
            const Bounded gate =
                dot(ffn.type, static_cast<const std::byte*>(ffn.gate) + offset, x, ffn.width);
            const double silu = gate.value / (1 + std::exp(-gate.value));
            const double silu_error = slope * gate.error + roundings * std::fabs(silu);
            return {silu * up.value, silu_error * (std::fabs(up.value) + up.error) +
                                         std::fabs(silu) * up.error +
                                         roundings * std::fabs(silu * up.value)};
        }
        case ASSAY_GELU: {
            const double pi = std::acos(-1.0), cube = up.value * up.value * up.value;
            const double inner = std::sqrt(2 / pi) * (up.value + 0.044715 * cube);
            return {up.value * (1 + std::tanh(inner)) / 2,
                    slope * up.error + roundings * std::fabs(up.value)};
        }
        case ASSAY_RELU:
            return {std::fmax(up.value, 0.0), up.error};
    }
    return {};
}

}  // namespace

std::vector<Bounded> sparse_ffn(const AssaySparseFfn& call) {
    const AssayFfn& ffn = call.ffn;
    const auto width = static_cast<std::size_t>(ffn.width);
    const auto size = static_cast<std::size_t>(ffn.expert_size);
    std::vector<Bounded> y(static_cast<std::size_t>(call.batch) * width);
    for (std::size_t b = 0; b < static_cast<std::size_t>(call.batch); ++b) {
        std::vector<double> magnitude(width, 0.0);
        double added = 8;
        for (int slot = 0; slot < *call.active_count; ++slot) {
            const auto expert = static_cast<std::size_t>(call.active[slot]);
            if (call.mask && !call.mask[b * static_cast<std::size_t>(ffn.experts) + expert])
                continue;
            for (std::size_t neuron = expert * size; neuron < (expert + 1) * size; ++neuron) {
                const Bounded h = activation(ffn, neuron, call.x + b * width);
                const auto* const down = static_cast<const std::byte*>(ffn.down) +
                                         neuron * row_bytes(ffn.type, ffn.width);
                added += 1;
                for (std::size_t c = 0; c < width; ++c) {
                    const double weight = weight_at(ffn.type, down, static_cast<std::int64_t>(c));
                    y[b * width + c].value += h.value * weight;
                    y[b * width + c].error += h.error * std::fabs(weight);
                    magnitude[c] += std::fabs(h.value * weight);
                }
            }
        }
        for (std::size_t c = 0; c < width; ++c) {
            Bounded& out = y[b * width + c];
            if (ffn.down_bias) out.value += ffn.down_bias[c];
            out.error += (added * magnitude[c] + 2 * std::fabs(out.value)) * half_unit;
        }
    }
    return y;
}

}  // namespace assay::kernels::reference
