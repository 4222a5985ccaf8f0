// What tests and benchmarks call kernels with: contexts, random calls and the memory these point
// to. Outputs and workspace start as NaN, with guards behind them that must stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "kernels/sparse_ffn/experts.hpp"

namespace assay::kernels::reference {

inline constexpr AssayType all_types[] = {ASSAY_F32,  ASSAY_F16,  ASSAY_BF16,
                                          ASSAY_Q8_0, ASSAY_Q4_0, ASSAY_Q4_1};
inline constexpr AssayType plain_types[] = {ASSAY_F32, ASSAY_F16, ASSAY_BF16};

/// A whole number from `least` to `most`.
inline int draw(std::mt19937_64& random, int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
}

// Contexts of a back end that free themselves.

struct DestroyContext {
    const AssayKernels* kernels = nullptr;
    void operator()(AssayContext* context) const { kernels->destroy(context); }
};
using Context = std::unique_ptr<AssayContext, DestroyContext>;

/// stream: a CUDA context's; null for one of its own.
inline Context make_context(const AssayKernels* kernels, int threads, void* stream = nullptr) {
    return Context(kernels->create(threads, 0, stream), DestroyContext{kernels});
}

// Random calls of the kernels with the memory they point to. Outputs and workspace start as NaN,
// with guards behind them that must stay.

/// Floats that start as NaN, followed by guards.
class PoisonedFloats {
  public:
    explicit PoisonedFloats(std::size_t count);
    float* data() { return floats_.data(); }
    const float* data() const { return floats_.data(); }
    std::size_t size() const { return floats_.size() - guards; }
    float operator[](std::size_t i) const { return floats_[i]; }
    bool guards_stand() const;
    void poison();

  private:
    static constexpr std::size_t guards = 16;
    std::vector<float> floats_;
};

struct GemvProblem {
    GemvProblem(AssayType type, int rows, int columns, int batch, std::uint64_t seed,
                std::size_t misalignment = 0);
    AssayGemv call();

    AssayType type;
    int rows, columns, batch;
    std::size_t misalignment;
    std::vector<std::byte> weights;
    std::vector<float> x, bias;
    PoisonedFloats y;
};

struct FfnShape {
    AssayType type = ASSAY_F32;
    AssayActivation activation = ASSAY_SWIGLU;
    int width = 0, experts = 0, expert_size = neurons_per_expert, batch = 1;
    double sparsity = 0;  ///< share of (token, expert) pairs that are inactive
    bool masked = true;   ///< else every token uses the union
    bool biases = true;
};

struct FfnProblem {
    FfnProblem(const FfnShape& shape, std::uint64_t seed);
    AssaySparseFfn call();
    /// Bytes of row `neuron`, counted over all experts, within gate, up and down.
    std::size_t row_offset(std::size_t neuron) const;

    FfnShape shape;
    std::vector<std::byte> gate, up, down;
    std::vector<float> up_bias, down_bias, x;
    std::vector<std::uint8_t> mask;
    std::vector<std::int32_t> active;
    std::int32_t active_count = 0;
    PoisonedFloats y, workspace;
};

}  // namespace assay::kernels::reference
