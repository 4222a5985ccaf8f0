#include "impls/decode/elementwise.hpp"

#include <algorithm>
#include <cmath>

namespace assay::decode {
namespace {

// Sums in several strands, so that no addition waits for the one before; term(i) of each element.
template <class Term>
float sum_of(int width, const Term& term) {
    constexpr int strands = 16;
    float partial[strands] = {};
    int i = 0;
    for (; i + strands <= width; i += strands)
        for (int s = 0; s < strands; ++s) partial[s] += term(i + s);
    for (; i < width; ++i) partial[i % strands] += term(i);
    for (int step = strands / 2; step > 0; step /= 2)
        for (int s = 0; s < step; ++s) partial[s] += partial[s + step];
    return partial[0];
}

}  // namespace

void rms_norm(const float* x, const float* weight, double epsilon, int width, float* out) {
    const float squares = sum_of(width, [&](int i) { return x[i] * x[i]; });
    const auto scale =
        static_cast<float>(1.0 / std::sqrt(static_cast<double>(squares) / width + epsilon));
    for (int i = 0; i < width; ++i) out[i] = x[i] * scale * weight[i];
}

void layer_norm(const float* x, const float* weight, const float* bias, double epsilon, int width,
                float* out) {
    const float mean = sum_of(width, [&](int i) { return x[i]; }) / static_cast<float>(width);
    const float squares = sum_of(width, [&](int i) { return (x[i] - mean) * (x[i] - mean); });
    const auto scale =
        static_cast<float>(1.0 / std::sqrt(static_cast<double>(squares) / width + epsilon));
    for (int i = 0; i < width; ++i) out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

void add(float* x, const float* y, int width) {
    for (int i = 0; i < width; ++i) x[i] += y[i];
}

void exponentials(const float* const* scores, int positions, int heads, float* out, float* most,
                  float* sums) {
    for (int h = 0; h < heads; ++h) {
        const float* const row = scores[h];
        most[h] = *std::max_element(row, row + positions);
        sums[h] = 0;
        for (int p = 0; p < positions; ++p) {
            const float share = std::exp(row[p] - most[h]);
            out[p * heads + h] = share;
            sums[h] += share;
        }
    }
}

void rotate(float* x, int heads, int head_width, const float* cosine, const float* sine,
            float scale) {
    const int half = head_width / 2;
    for (int head = 0; head < heads; ++head, x += head_width)
        for (int i = 0; i < half; ++i) {
            const float a = x[i], b = x[i + half];
            x[i] = (a * cosine[i] - b * sine[i]) * scale;
            x[i + half] = (b * cosine[i] + a * sine[i]) * scale;
        }
}

}  // namespace assay::decode
