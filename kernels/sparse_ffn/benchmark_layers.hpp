// Layers of random weights that are gone through in turn, so that a benchmark's working set exceeds
// every cache; shared by the benchmarks of one process.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/element_types.hpp"
#include "kernels/reference/against_reading.hpp"
#include "kernels/sparse_ffn/experts.hpp"

namespace assay::kernels::reference {

struct LayerShape {
    std::string name;
    AssayType type;
    int width, experts, expert_size, layers;

    bool operator==(const LayerShape&) const = default;
    int neurons() const { return experts * expert_size; }
};

inline LayerShape llama_7b(AssayType type) {
    const char* const types[] = {"f32", "f16", "bf16"};
    return {std::string(types[type]) + "/4096x11008", type, 4096, 344, neurons_per_expert, 4};
}
inline LayerShape smollm() {
    return {"bf16/576x1536", ASSAY_BF16, 576, 48, neurons_per_expert, 30};
}

class Layers {
  public:
    /// The layers made last are kept; those of another shape take their place.
    static const Layers& of(const LayerShape& shape) {
        static std::unique_ptr<Layers> kept;
        if (!kept || !(kept->shape_ == shape)) {
            kept.reset();
            kept.reset(new Layers(shape));
        }
        return *kept;
    }

    const LayerShape& shape() const { return shape_; }
    /// Gate, up and down: three matrices of [neurons][width].
    const std::byte* matrix(std::size_t layer, int which) const {
        return memory_.get() + (layer * 3 + static_cast<std::size_t>(which)) * matrix_bytes();
    }
    AssayFfn network(std::size_t layer) const {
        AssayFfn ffn{};
        ffn.width = shape_.width;
        ffn.experts = shape_.experts;
        ffn.expert_size = shape_.expert_size;
        ffn.type = shape_.type;
        ffn.activation = ASSAY_SWIGLU;
        ffn.gate = matrix(layer, 0);
        ffn.up = matrix(layer, 1);
        ffn.down = matrix(layer, 2);
        return ffn;
    }
    std::size_t bytes_of_expert() const { return expert_bytes(network(0)); }

  private:
    explicit Layers(const LayerShape& shape)
        : shape_(shape),
          memory_(streamed_weights(shape.type,
                                   matrix_bytes() * 3 * static_cast<std::size_t>(shape.layers))) {}
    std::size_t matrix_bytes() const {
        return static_cast<std::size_t>(shape_.neurons()) * row_bytes(shape_.type, shape_.width);
    }

    LayerShape shape_;
    StreamedMemory memory_;
};

/// `sets` random sets of experts, ascending, each of round((1 − sparsity) · experts).
inline std::vector<std::vector<std::int32_t>> random_active_sets(int experts, double sparsity,
                                                                 int sets,
                                                                 std::mt19937_64& random) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(experts));
    std::iota(all.begin(), all.end(), 0);
    std::vector<std::vector<std::int32_t>> result(static_cast<std::size_t>(sets));
    const auto count = static_cast<std::ptrdiff_t>((1 - sparsity) * experts + 0.5);
    for (auto& set : result) {
        std::shuffle(all.begin(), all.end(), random);
        set.assign(all.begin(), all.begin() + count);
        std::sort(set.begin(), set.end());
    }
    return result;
}

}  // namespace assay::kernels::reference
