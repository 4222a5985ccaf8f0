// A byte-level GPT whose feed-forward layers are mixtures of experts: with a top-1 gate the
// shape of the models in the Lazarus paper (Table 1), at any size; with more it mixes the experts
// chosen as Mixtral does. Or all of Mixtral's shape. No token is dropped, unless capacity is fixed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "impls/nn/moe/shape.hpp"
#include "impls/nn/parameter_block.hpp"

namespace assay::nn {

/// How attention's scores and values meet. written_out: through memory, operation by operation, in
/// an order that is the same everywhere. materialised: the same without passes of their own for
/// scale and mask, as a GPU without fused attention does it. fused: in one kernel, where libtorch
/// has one, that keeps scores on the chip.
enum class Attention { written_out, materialised, fused };

/// Where a model is computed, and how.
struct Placement {
    at::Device device = at::kCPU;
    Attention attention = Attention::written_out;
};

struct MoeGptConfig {
    int layers = 2;
    int width = 64;
    int heads = 4;
    int experts = 8;
    int top_k = 1;     ///< experts per token, fewer than there are
    int hidden = 256;  ///< of one expert's feed-forward network
    int context = 64;  ///< tokens per sequence
    at::ScalarType dtype = at::kFloat;
    MoeShape shape = MoeShape::gpt;
    int kv_heads = 0;  ///< mixtral: divides `heads`; 0: as many
    /// 0: dropless. Else an expert takes at most capacity_of() of the choices of one sequence.
    double capacity_factor = 0;
    static constexpr int vocabulary = 256;  ///< bytes
};

/// GShard's capacity (arXiv 2006.16668, section 2.2), its groups being sequences, so that it does
/// not hang on how a batch is split: ⌈factor · top_k · length / experts⌉. With dropless routing 0.
std::int64_t capacity_of(const MoeGptConfig& config);

std::vector<ParameterSpec> dense_parameters(const MoeGptConfig& config);
std::vector<ParameterSpec> expert_parameters(const MoeGptConfig& config);

/// One expert: w2 · gelu(w1 · x + b1) + b2, or down · (silu(gate · x) ∘ (up · x)). rows: [n,
/// width], n may be 0. Returns [n, width].
at::Tensor expert_forward(const ParameterBlock& expert, const at::Tensor& rows,
                          MoeShape shape = MoeShape::gpt);

/// How the experts of a layer are computed: here, or wherever their replicas live.
class ExpertExecutor {
  public:
    virtual ~ExpertExecutor() = default;
    /// rows: [n, width], each token top_k times in succession; expert: the gate's choice for each
    /// row. Returns each row's expert output, in the order of the rows.
    virtual at::Tensor run(int layer, const at::Tensor& rows,
                           const std::vector<std::int64_t>& expert) = 0;
};

/// All experts in this process, no distribution: the reference.
class LocalExperts : public ExpertExecutor {
  public:
    /// experts[layer][expert]
    explicit LocalExperts(const std::vector<std::vector<const ParameterBlock*>>& experts,
                          MoeShape shape = MoeShape::gpt)
        : experts_(experts), shape_(shape) {}
    at::Tensor run(int layer, const at::Tensor& rows,
                   const std::vector<std::int64_t>& expert) override;

  private:
    std::vector<std::vector<const ParameterBlock*>> experts_;
    MoeShape shape_;
};

/// The gate's decisions of one forward pass, for comparisons.
struct GateTrace {
    std::vector<std::vector<std::int64_t>> choice;  ///< [layer][row * top_k]
    /// [layer][row]: by how much the last expert chosen is more probable than the next one.
    std::vector<std::vector<double>> margin;
};

/// Choices made in the gate's place, top_k per row of a layer: a replayed routing.
using ForcedChoice = std::function<std::vector<std::int64_t>(int layer, std::int64_t rows)>;

/// Sum of the cross entropy (nats) over all predicted tokens. tokens: [batch, context + 1], int64;
/// a row is a position of the batch, sequence by sequence. Where `forced` is given it chooses the
/// experts; their outputs are still weighted by the gate's probability of the one chosen, so that
/// the gate is trained as well.
at::Tensor moe_gpt_loss(const MoeGptConfig& config, const ParameterBlock& dense,
                        ExpertExecutor& experts, const at::Tensor& tokens,
                        GateTrace* trace = nullptr, const ForcedChoice& forced = {});

}  // namespace assay::nn
