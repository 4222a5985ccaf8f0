// Matrix products of decoding, each one region of the kernels' threads. The results do not depend
// on the number of threads.
#pragma once

#include <span>
#include <vector>

#include "impls/decode/interleaved/interleaved.hpp"
#include "impls/decode/weights.hpp"
#include "impls/nn/files/decoder_config.hpp"

namespace assay::decode {

constexpr int largest_batch = 16;  ///< tokens of one product, as of AssayGemv

/// What a product multiplies: up to sixteen tokens' activations, beside them their digits where
/// rows are interleaved.
class Activations {
  public:
    /// `with_digits`: for products with interleaved rows; columns is then a multiple of 32.
    Activations(int columns, bool with_digits);

    int columns() const { return columns_; }
    int tokens() const { return tokens_; }
    float* row(int token) { return values_.data() + token * columns_; }
    const float* data() const { return values_.data(); }

    /// To be called once the first `tokens` rows are written.
    void ready(int tokens);

    const float* const* rows() const { return rows_; }
    const DigitBlock* const* digits() const { return digits_; }

  private:
    int columns_, tokens_ = 0;
    std::vector<float> values_;       // [largest_batch][columns]
    std::vector<DigitBlock> blocks_;  // [largest_batch][columns / 32]
    const float* rows_[largest_batch] = {};
    const DigitBlock* digits_[largest_batch] = {};
};

/// y[t·rows + r] = row r · x[t] + bias[r].
struct Product {
    const WeightMatrix* matrix;
    float* y;
};

/// All products of the same activations in one region.
void multiply(AssayContext& context, std::span<const Product> products, const Activations& x);

/// h[t·rows + r] = act(gate·x, up·x + bias): gate and up row by row in one region. `gate` is used
/// by swiglu only.
void activate(AssayContext& context, const WeightMatrix& gate, const WeightMatrix& up,
              nn::Activation activation, const Activations& x, float* h);

AssayActivation kernel_activation(nn::Activation activation);

}  // namespace assay::decode
