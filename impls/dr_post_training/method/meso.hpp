// MeSO (specification, section 2.3): AdamW whose moments live in a random subspace of each linear
// map, so that neither a gradient nor a moment of the map's own size is ever held.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/nn/parameter_block.hpp"

namespace assay::dr_post_training {

struct MesoOptions {
    /// What a map's outputs and inputs are projected to, by Gaussian matrices; never more than
    /// there are. The paper's 512 are a quarter of the width of its model.
    std::int64_t outputs = 512, inputs = 512;
    std::int64_t redraw_every = 200;  ///< steps
    std::uint64_t seed = 1;
};

/// Of the coordinates of a map's gradient, [a, b].
struct Moments {
    at::Tensor first, second;
};

/// Moments in the coordinates of new projections, of which `outputs` [a, a] and `inputs` [b, b] are
/// the products with the old ones, P_newᵀ·P_old: the first as a gradient would change, with its
/// norm; the second by the squares of the same products, exactly, with its root mean square, at
/// least 1e-10.
Moments moved(const Moments&, const at::Tensor& outputs, const at::Tensor& inputs);

/// y = x·Wᵀ becomes x·(W + P_O·Z·P_Iᵀ)ᵀ with Z [a, b] zero: the gradient of Z is the projection of
/// W's, computed from projected inputs and output gradients. An update moves Z, apply() moves W by
/// what Z has become and sets it back to zero. The maps of all layers; the layers' norms and
/// everything outside the layers learn as ever. Biases of maps stay (models of LLaMA's shape have
/// none).
class Meso {
  public:
    /// Freezes the layers' blocks of the decoder, which must outlive it.
    Meso(nn::Decoder& decoder, const MesoOptions& options);

    /// One block a layer, of coordinates and norms; the decoder's block outside the layers is to be
    /// trained beside them.
    std::vector<std::unique_ptr<nn::ParameterBlock>>& blocks() { return blocks_; }

    /// Before the forward pass of step `step`: draws new projections where it is time, and moves
    /// the moments. Steps come in order.
    void begin(std::int64_t step);
    /// After an update.
    void apply();

    /// Maps of a step; what is trained passes on to `inner` under the map's own name. `inner` must
    /// outlive them.
    std::unique_ptr<nn::Maps> over(nn::Maps& inner) const;

    /// P_O [O, a] of a map, P_I [I, b]; the coordinates' leaf [a, b]. Throw std::out_of_range.
    const at::Tensor& outputs_of(int layer, std::string_view map) const;
    const at::Tensor& inputs_of(int layer, std::string_view map) const;
    const at::Tensor& coordinates(int layer, std::string_view map) const;

  private:
    class Through;
    struct Part {  ///< a parameter of a layer
        std::string name;
        std::size_t place = 0;            ///< in the block
        std::int64_t offset = 0;          ///< of its numbers there
        std::vector<std::int64_t> shape;  ///< in the decoder
        bool map() const { return shape.size() == 2; }
    };
    struct Projections {
        at::Tensor outputs, inputs;
    };
    const Part& part(std::string_view name) const;
    const Projections& of(int layer, std::string_view map) const;
    Projections drawn(int layer, const Part&) const;

    nn::Decoder& decoder_;
    MesoOptions options_;
    std::int64_t epoch_ = 0;
    std::vector<Part> parts_;                            ///< of each layer
    std::vector<std::vector<Projections>> projections_;  ///< layer, part; undefined for norms
    std::vector<std::unique_ptr<nn::ParameterBlock>> blocks_;
};

}  // namespace assay::dr_post_training
