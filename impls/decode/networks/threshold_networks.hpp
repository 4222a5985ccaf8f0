// Feed-forward networks that leave out what is small: by the gate (CATS), or by their inputs
// (TEAL). Training-free rivals of LTE, decoded as their papers do: only rows that are needed are
// read, and these as the sparse kernel reads experts: shared out evenly, asked for ahead, sums in
// one order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "impls/decode/networks/feed_forward_networks.hpp"
#include "impls/decode/weights/weights.hpp"
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

/// Rows that some token needs, ascending, with every token's weight: what is not above the
/// threshold in magnitude is 0.
struct NeededRows {
    std::int32_t* rows;  ///< room for all of them and `ahead` more, which repeat the last
    float* weights;      ///< [row][token]
    int count = 0;

    /// Of rows `begin` to `end`; values: [tokens][stride].
    void find(const float* values, int stride, int tokens, int begin, int end, float threshold,
              int ahead);
};

/// y[t] = bias + sum over r of weights[t][r] · row r, reading no row that no token needs. The order
/// of the sums depends on the matrix alone.
class WeightedRows {
  public:
    /// weights: [tokens][rows]; one that is not above the threshold counts as 0. y:
    /// [tokens][columns]. bias: [columns], or empty. Returns how many rows were read.
    int run(AssayContext& context, const WeightMatrix& matrix, const float* weights,
            float threshold, int tokens, const std::vector<float>& bias, float* y);

  private:
    std::vector<std::int32_t> rows_;  // needed ones, by slab of columns and chunk of rows
    std::vector<float> weights_;      // theirs
    std::vector<float> sums_;         // [chunk][tokens][columns]
};

/// What both kinds of networks hold.
class ThresholdNetworks : public FeedForwardNetworks {
  public:
    std::uint64_t bytes_of_last_run() const override { return bytes_of_last_run_; }

  protected:
    struct Layer {
        WeightMatrix first, down;  ///< first: as the method reads gate and up; down: a row is a
                                   ///< neuron's
        std::vector<float> up_bias, down_bias;
    };
    /// Gate (swiglu only) and up in the order in which a method reads them.
    using Arrange = PlainRows (*)(const std::vector<PlainRows>& gate_and_up);
    ThresholdNetworks(const nn::DecoderConfig& config, const WeightSource& source, Arrange arrange);

    bool gated() const { return config_.activation == nn::Activation::swiglu; }
    /// y = down applied to hidden_; returns how many neurons some token needs.
    int finish(AssayContext& context, const Layer& layer, float threshold, int tokens, float* y);
    void count_bytes(int layer, std::uint64_t of_layer);
    std::size_t bias_bytes(const Layer& layer) const;

    nn::DecoderConfig config_;
    std::vector<Layer> layers_;
    std::vector<float> hidden_;  // [tokens][neurons]

  private:
    WeightMatrix keep(const PlainRows& rows);

    std::vector<kernels::StreamedMemory> memory_;
    WeightedRows down_rows_;
    std::uint64_t bytes_of_last_run_ = 0;
};

/// CATS. Reads the gate (without one: up) whole, and of every neuron that remains the other rows.
class GatedNetworks final : public ThresholdNetworks {
  public:
    GatedNetworks(const nn::DecoderConfig& config, const WeightSource& source,
                  nn::GateThresholds thresholds);
    void run(AssayContext& context, int layer, std::span<const int> positions, const Activations& x,
             float* y) override;

  private:
    /// Neurons `begin` to `end`: what the gate lets through, times up where it does.
    void let_through(const AssayContext& context, const Layer& layer, float least,
                     const Activations& x, int begin, int end);

    nn::GateThresholds thresholds_;
};

/// TEAL. Reads the columns of gate and up, and of down, whose inputs remain.
class ThinnedNetworks final : public ThresholdNetworks {
  public:
    ThinnedNetworks(const nn::DecoderConfig& config, const WeightSource& source,
                    nn::InputThresholds thresholds);
    void run(AssayContext& context, int layer, std::span<const int> positions, const Activations& x,
             float* y) override;

  private:
    /// hidden_ of what first_rows_ gave.
    void activate(AssayContext& context, const Layer& layer, int tokens);

    nn::InputThresholds thresholds_;
    WeightedRows first_rows_;
    std::vector<float> gates_and_ups_;  // [tokens][gate's neurons, up's neurons]
};

}  // namespace assay::decode
