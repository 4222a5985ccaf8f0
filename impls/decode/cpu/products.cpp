#include "impls/decode/cpu/products.hpp"

#include <algorithm>
#include <stdexcept>

#include "impls/decode/weights/interleaved.hpp"
#include "kernels/cpu/context.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/row_products.hpp"
#include "kernels/sparse_ffn/activation.hpp"

namespace assay::decode {

Activations::Activations(int columns, std::optional<ActivationType> digits, const Loops& loops)
    : columns_(columns),
      digits_(digits),
      loops_(&loops),
      values_(static_cast<std::size_t>(largest_pass * columns)) {
    const auto blocks = static_cast<std::size_t>(largest_pass * (columns / digit_block));
    if (digits == ActivationType::exact) exact_.resize(blocks);
    if (digits == ActivationType::int8) int8_.resize(blocks);
    for (int t = 0; t < largest_pass; ++t) rows_[t] = row(t);
}

void Activations::ready(int token) {
    if (!exact_.empty()) loops_->exact(row(token), columns_, exact_.data() + token, tokens_);
    if (!int8_.empty()) loops_->int8(row(token), columns_, int8_.data() + token, tokens_);
}

namespace {

constexpr int rows_together = interleaved_rows;

// Tokens whose sums stay in registers; those of more are added up where the result is to be, which
// should then be the first cache.
constexpr int tokens_in_registers = 4;

// y[t·stride + r] for `rows` <= 16 rows from `first`, a multiple of 16.
void multiply_rows(const Loops& loops, const WeightMatrix& matrix, int first, int rows,
                   const Activations& x, float* y, int stride) {
    const int tokens = x.tokens();
    const std::byte* const weights =
        matrix.weights + static_cast<std::size_t>(first) * row_bytes(matrix);
    alignas(64) float out[rows_together * largest_pass];
    const auto multiply_group = [&](float* to, int to_stride) {
        if (!kernels::is_quantised(matrix.type))
            loops.multiply_floats(matrix.type, weights, matrix.columns, x.rows(), tokens, to,
                                  to_stride);
        else if (x.digit_type() == ActivationType::exact)
            loops.multiply_exact(matrix.type, weights, matrix.columns, x.exact(), tokens, to,
                                 to_stride);
        else
            loops.multiply_int8(matrix.type, weights, matrix.columns, x.int8(), tokens, to,
                                to_stride);
    };
    if (rows == rows_together && (tokens <= tokens_in_registers || stride == rows_together)) {
        multiply_group(y, stride);
    } else {  // also the last group, filled up with zeros
        // Lines far from each other, which would have to come when they are written.
        for (int t = 0; t < tokens; ++t) __builtin_prefetch(y + t * stride, 1);
        multiply_group(out, rows_together);
        for (int t = 0; t < tokens; ++t) std::copy_n(out + t * rows_together, rows, y + t * stride);
    }
    if (matrix.bias)
        for (int t = 0; t < tokens; ++t)
            for (int r = 0; r < rows; ++r) y[t * stride + r] += matrix.bias[first + r];
}

// Work of an item, in bytes of weights times tokens, unless its least rows are more: a few
// microseconds, so that threads of unlike speed end together.
constexpr std::size_t most_work = 256 * 1024;

// Shares rows out: piece(first, rows) with rows <= 16.
class Rows {
  public:
    Rows(const AssayContext& context, int rows, std::size_t bytes_of_row, int tokens)
        : rows_(rows),
          of_item_(
              kernels::rows_per_item(rows, bytes_of_row, context.pool.threads(), rows_together)) {
        const std::size_t work = bytes_of_row * static_cast<std::size_t>(tokens * rows_together);
        const auto most = static_cast<int>(most_work / std::max(work, std::size_t{1}));
        of_item_ = std::min(of_item_, std::max(most, 1) * rows_together);
    }

    int items() const { return kernels::item_count(rows_, of_item_); }
    template <class Piece>
    void run(int item, const Piece& piece) const {
        const int end = std::min(rows_, (item + 1) * of_item_);
        for (int first = item * of_item_; first < end; first += rows_together)
            piece(first, std::min(rows_together, end - first));
    }

  private:
    int rows_, of_item_;
};

}  // namespace

void multiply(AssayContext& context, const Loops& loops, std::span<const Product> products,
              const Activations& x) {
    constexpr std::size_t most = 3;  // query, key, value
    if (products.size() > most) throw std::logic_error("more products than one region takes");
    struct Shared {
        Rows rows;
        int first_item;
    };
    Shared shared[most]{{{context, 0, 1, 1}, 0}, {{context, 0, 1, 1}, 0}, {{context, 0, 1, 1}, 0}};
    int items = 0;
    for (std::size_t i = 0; i < products.size(); ++i) {
        const WeightMatrix& matrix = *products[i].matrix;
        shared[i] = {{context, matrix.rows, row_bytes(matrix), x.tokens()}, items};
        items += shared[i].rows.items();
    }
    context.pool.run(items, [&](int item) {
        std::size_t i = products.size() - 1;
        while (item < shared[i].first_item) --i;
        const WeightMatrix& matrix = *products[i].matrix;
        shared[i].rows.run(item - shared[i].first_item, [&](int first, int rows) {
            multiply_rows(loops, matrix, first, rows, x, products[i].y + first, matrix.rows);
        });
    });
}

AssayActivation kernel_activation(nn::Activation activation) {
    switch (activation) {
        case nn::Activation::swiglu:
            return ASSAY_SWIGLU;
        case nn::Activation::gelu:
            return ASSAY_GELU;
        case nn::Activation::relu:
            return ASSAY_RELU;
    }
    throw std::logic_error("no such activation");
}

void activate(AssayContext& context, const Loops& loops, const WeightMatrix& gate,
              const WeightMatrix& up, nn::Activation activation, const Activations& x, float* h) {
    const bool gated = activation == nn::Activation::swiglu;
    const AssayActivation kind = kernel_activation(activation);
    const Rows shared(context, up.rows, row_bytes(up) + (gated ? row_bytes(gate) : 0), x.tokens());
    context.pool.run(shared.items(), [&](int item) {
        shared.run(item, [&](int first, int rows) {
            alignas(64) float gates[rows_together * largest_pass],
                ups[rows_together * largest_pass];
            if (gated) multiply_rows(loops, gate, first, rows, x, gates, rows_together);
            multiply_rows(loops, up, first, rows, x, ups, rows_together);
            for (int t = 0; t < x.tokens(); ++t) {
                const float* const of_token = ups + t * rows_together;
                float* const to = h + t * up.rows + first;
                if (gated)
                    loops.swiglu(gates + t * rows_together, of_token, rows, to);
                else
                    for (int r = 0; r < rows; ++r)
                        to[r] = kernels::activate(kind, 0.0f, of_token[r]);
            }
        });
    });
}

}  // namespace assay::decode
