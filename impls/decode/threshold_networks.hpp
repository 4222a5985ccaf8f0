// Feed-forward networks that leave out what is small: by the gate (CATS), or by their inputs
// (TEAL). Training-free rivals of LTE, decoded as their papers do: only rows that are needed are
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "impls/decode/feed_forward_networks.hpp"
#include "impls/decode/weights.hpp"
#include "kernels/cpu/streamed_memory.hpp"

namespace assay::decode {

/// A matrix as it is read from a source: f32, f16 or bf16, row by row.
struct PlainRows {
    AssayType type = ASSAY_F32;
    int rows = 0, columns = 0;
    std::vector<std::byte> bytes;
};
/// Quantised rows become f32.
PlainRows plain_rows(const WeightSource&, const std::string& name, int rows, int columns);
PlainRows transposed(const PlainRows&);

/// y[t] = sum over r of weights[t][r] · row r, reading no row whose weight is 0 for every token.
/// The order of the sums depends on which rows are read, not on threads.
class WeightedRows {
  public:
    /// All products' matrices have as many rows as a token has weights. products: y is
    /// [tokens][columns]. weights: [tokens][rows].
    void run(AssayContext& context, std::span<const Product> products, const float* weights,
             int tokens);

  private:
    void add_chunk(const AssayContext& context, const Product& product, const float* weights,
                   int tokens, int chunk, int chunks, float* sums) const;

    std::vector<int> read_;    // rows with a weight, ascending
    std::vector<float> sums_;  // [product][chunk][tokens][columns]
};

/// What both kinds of networks hold.
class ThresholdNetworks : public FeedForwardNetworks {
  public:
    std::uint64_t bytes_of_last_token() const override { return bytes_of_last_token_; }

  protected:
    struct Layer {
        WeightMatrix gate, up, down;  ///< gate: swiglu only; down: a row is a neuron's
        std::vector<float> up_bias, down_bias;
    };
    ThresholdNetworks(const nn::DecoderConfig& config, const WeightSource& source,
                      bool inputs_are_rows);

    void add_bias(const std::vector<float>& bias, int tokens, float* y) const;
    /// change = down applied to hidden_; counts what the last token read: `before` of gate and up.
    void finish(AssayContext& context, const Layer& layer, int tokens, std::uint64_t before,
                bool first_layer, float* y);

    nn::DecoderConfig config_;
    std::vector<Layer> layers_;
    std::vector<float> hidden_;  // [tokens][neurons]: what is not left out
    WeightedRows weighted_rows_;

  private:
    WeightMatrix keep(PlainRows rows);

    std::vector<kernels::StreamedMemory> memory_;
    std::uint64_t bytes_of_last_token_ = 0;
};

/// CATS. Reads the gate (without one: up) whole, then the other rows of the neurons that remain.
class GatedNetworks final : public ThresholdNetworks {
  public:
    GatedNetworks(const nn::DecoderConfig& config, const WeightSource& source,
                  nn::GateThresholds thresholds);
    void run(AssayContext& context, int layer, int first_position, const Activations& x,
             float* y) override;

  private:
    nn::GateThresholds thresholds_;
};

/// TEAL. Reads the columns of gate and up (kept as rows) and of down whose inputs remain.
class ThinnedNetworks final : public ThresholdNetworks {
  public:
    ThinnedNetworks(const nn::DecoderConfig& config, const WeightSource& source,
                    nn::InputThresholds thresholds);
    void run(AssayContext& context, int layer, int first_position, const Activations& x,
             float* y) override;

  private:
    nn::InputThresholds thresholds_;
    std::vector<float> inputs_;  // [tokens][width], thinned
    std::vector<float> gates_;   // [tokens][neurons]
};

}  // namespace assay::decode
