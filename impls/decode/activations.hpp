// What a product multiplies: up to sixteen tokens' activations, beside them their digits where rows
// are interleaved.
#pragma once

#include <vector>

#include "impls/decode/interleaved/digits.hpp"

namespace assay::decode {

constexpr int largest_batch = 16;  ///< tokens of one product, as of AssayGemv

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

}  // namespace assay::decode
