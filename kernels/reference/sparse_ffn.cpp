#include "kernels/reference/sparse_ffn.hpp"

#include <cmath>

#include "kernels/cpu/element_types.hpp"
#include "kernels/reference/floats.hpp"

namespace assay::kernels::reference {
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
