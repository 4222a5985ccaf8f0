#include "kernels/reference/random_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/context.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/reference/reference.hpp"

namespace assay::kernels::reference {
namespace {

constexpr float guard = 12345.678f;
constexpr std::size_t workspace_alignment = 64;

std::size_t product(int a, int b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

AssayFfn network_of(const FfnShape& shape) {
    AssayFfn ffn{};
    ffn.width = shape.width;
    ffn.experts = shape.experts;
    ffn.expert_size = shape.expert_size;
    ffn.type = shape.type;
    ffn.activation = shape.activation;
    return ffn;
}

}  // namespace

PoisonedFloats::PoisonedFloats(std::size_t count) : floats_(count + guards, guard) { poison(); }

bool PoisonedFloats::guards_stand() const {
    return std::all_of(floats_.begin() + static_cast<std::ptrdiff_t>(size()), floats_.end(),
                       [](float value) { return value == guard; });
}

void PoisonedFloats::poison() {
    std::fill_n(floats_.begin(), size(), std::numeric_limits<float>::quiet_NaN());
}

GemvProblem::GemvProblem(AssayType type, int rows, int columns, int batch, std::uint64_t seed,
                         std::size_t misalignment)
    : type(type),
      rows(rows),
      columns(columns),
      batch(batch),
      misalignment(misalignment),
      y(product(rows, batch)) {
    std::mt19937_64 random(seed);
    weights = random_weights(type, rows, columns, random, misalignment);
    x = random_floats(product(columns, batch), random);
    bias = random_floats(static_cast<std::size_t>(rows), random);
}

AssayGemv GemvProblem::call() {
    return {rows,        columns, type,     weights.data() + misalignment,
            bias.data(), batch,   x.data(), y.data()};
}

FfnProblem::FfnProblem(const FfnShape& shape, std::uint64_t seed)
    : shape(shape), y(product(shape.width, shape.batch)), workspace(0) {
    std::mt19937_64 random(seed);
    const std::int64_t neurons = static_cast<std::int64_t>(shape.experts) * shape.expert_size;
    if (shape.activation == ASSAY_SWIGLU)
        gate = random_weights(shape.type, neurons, shape.width, random);
    up = random_weights(shape.type, neurons, shape.width, random);
    down = random_weights(shape.type, neurons, shape.width, random);
    up_bias = random_floats(static_cast<std::size_t>(neurons), random);
    down_bias = random_floats(static_cast<std::size_t>(shape.width), random);
    x = random_floats(product(shape.width, shape.batch), random);

    // Exactly the wanted number of experts per token, rounded, at random.
    const auto inactive = static_cast<std::size_t>(std::lround(shape.sparsity * shape.experts));
    for (int token = 0; token < shape.batch; ++token) {
        std::vector<std::uint8_t> row(static_cast<std::size_t>(shape.experts), 1);
        std::fill_n(row.begin(), inactive, std::uint8_t{0});
        std::shuffle(row.begin(), row.end(), random);
        mask.insert(mask.end(), row.begin(), row.end());
    }
    for (std::int32_t expert = 0; expert < shape.experts; ++expert)
        for (int token = 0; token < shape.batch; ++token)
            if (mask[product(token, shape.experts) + static_cast<std::size_t>(expert)]) {
                active.push_back(expert);
                break;
            }
    active_count = static_cast<std::int32_t>(active.size());
    active.resize(static_cast<std::size_t>(shape.experts), -1);  // what lies behind is not read
    workspace =
        PoisonedFloats(sparse_ffn_workspace(network_of(shape), shape.batch) / sizeof(float) +
                       workspace_alignment / sizeof(float));
}

AssaySparseFfn FfnProblem::call() {
    AssaySparseFfn call{};
    call.ffn = network_of(shape);
    call.ffn.gate = gate.empty() ? nullptr : gate.data();
    call.ffn.up = up.data();
    call.ffn.down = down.data();
    call.ffn.up_bias = shape.biases ? up_bias.data() : nullptr;
    call.ffn.down_bias = shape.biases ? down_bias.data() : nullptr;
    call.batch = shape.batch;
    call.x = x.data();
    call.active = active.data();
    call.active_count = &active_count;
    call.mask = shape.masked ? mask.data() : nullptr;
    call.y = y.data();
    const auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
    const std::size_t skip =
        (workspace_alignment - address % workspace_alignment) % workspace_alignment;
    call.workspace = workspace.data() + skip / sizeof(float);
    call.workspace_bytes = sparse_ffn_workspace(call.ffn, shape.batch);
    return call;
}

std::size_t FfnProblem::row_offset(std::size_t neuron) const {
    return neuron * row_bytes(shape.type, shape.width);
}

}  // namespace assay::kernels::reference
