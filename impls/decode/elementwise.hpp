// The small steps between the products.
#pragma once

namespace assay::decode {

/// out = x / rms(x) · weight. All: [width].
void rms_norm(const float* x, const float* weight, double epsilon, int width, float* out);
/// out = (x − mean) / deviation · weight + bias.
void layer_norm(const float* x, const float* weight, const float* bias, double epsilon, int width,
                float* out);

/// x += y.
void add(float* x, const float* y, int width);

/// scores: [heads] rows of [positions]. out: [positions][heads], exp(score − most of its head).
/// most, sums (of out): [heads].
void exponentials(const float* const* scores, int positions, int heads, float* out, float* most,
                  float* sums);

/// Rotates each head's halves against each other: pair (i, i + head_width/2) by the angle whose
/// cosine and sine are given, [head_width/2]. Then multiplies by `scale`.
void rotate(float* x, int heads, int head_width, const float* cosine, const float* sine,
            float scale);

}  // namespace assay::decode
