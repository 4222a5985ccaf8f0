#include "impls/decode/activations.hpp"

#include "impls/decode/interleaved/products.hpp"

namespace assay::decode {

Activations::Activations(int columns, bool with_digits)
    : columns_(columns), values_(static_cast<std::size_t>(largest_batch * columns)) {
    const int blocks = with_digits ? columns / digit_block : 0;
    blocks_.resize(static_cast<std::size_t>(largest_batch * blocks));
    for (int t = 0; t < largest_batch; ++t) {
        rows_[t] = row(t);
        digits_[t] = blocks_.data() + t * blocks;
    }
}

void Activations::ready(int tokens) {
    tokens_ = tokens;
    if (blocks_.empty()) return;
    const std::size_t blocks = blocks_.size() / largest_batch;
    for (int t = 0; t < tokens; ++t)
        interleaved_products()->digits(row(t), columns_,
                                       blocks_.data() + static_cast<std::size_t>(t) * blocks);
}

}  // namespace assay::decode
