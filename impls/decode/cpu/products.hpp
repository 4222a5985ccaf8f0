// Matrix products of decoding, each one region of the kernels' threads. The results depend neither
// on the number of threads nor on the other tokens.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "impls/decode/cpu/loops.hpp"
#include "impls/decode/weights/weights.hpp"
#include "impls/nn/files/decoder_config.hpp"
#include "suite/base/describe.hpp"

namespace assay::decode {

constexpr int largest_batch = 16;  ///< tokens of one call of the kernels, as of AssayGemv
constexpr int largest_pass = 64;   ///< tokens of one product

/// As what whole numbers activations are multiplied with quantised rows.
/// exact: 24 bits, what fp32 arithmetic keeps. int8: 8 bits of a block's largest; faster.
enum class ActivationType { exact, int8 };
ASSAY_NAMES(ActivationType, exact, int8)

/// What a product multiplies: up to 64 tokens' activations, beside them their digits where rows are
/// quantised.
class Activations {
  public:
    /// digits: absent where no product needs them; columns is else a multiple of 32.
    explicit Activations(int columns, std::optional<ActivationType> digits = {},
                         const Loops& loops = decode::loops());

    int columns() const { return columns_; }
    int tokens() const { return tokens_; }
    float* row(int token) { return values_.data() + token * columns_; }
    const float* data() const { return values_.data(); }
    std::optional<ActivationType> digit_type() const { return digits_; }

    /// How many rows will be written; each is then to be called ready, on any thread.
    void begin(int tokens) { tokens_ = tokens; }
    void ready(int token);

    const float* const* rows() const { return rows_; }
    const ExactBlock* exact() const { return exact_.data(); }
    const Int8Block* int8() const { return int8_.data(); }

  private:
    int columns_, tokens_ = 0;
    std::optional<ActivationType> digits_;
    const Loops* loops_;
    std::vector<float> values_;      // [largest_pass][columns]
    std::vector<ExactBlock> exact_;  // [columns / 32][tokens]
    std::vector<Int8Block> int8_;    // likewise
    const float* rows_[largest_pass] = {};
};

/// y[t·rows + r] = row r · x[t] + bias[r].
struct Product {
    const WeightMatrix* matrix;
    float* y;
};

/// All products of the same activations in one region.
void multiply(AssayContext& context, const Loops& loops, std::span<const Product> products,
              const Activations& x);

/// h[t·rows + r] = act(gate·x, up·x + bias): gate and up row by row in one region. `gate` is used
/// by swiglu only.
void activate(AssayContext& context, const Loops& loops, const WeightMatrix& gate,
              const WeightMatrix& up, nn::Activation activation, const Activations& x, float* h);

AssayActivation kernel_activation(nn::Activation activation);

}  // namespace assay::decode
