#include "impls/nn/files/tensor_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "impls/nn/files/malformed.hpp"
#include "impls/nn/files/tensor_type.hpp"

namespace assay::nn {

std::size_t checked_bytes(std::string_view file, const TensorEntry& tensor,
                          std::size_t file_bytes) {
    const auto refuse = [&](std::string_view what) {
        malformed(file, fmt::format("tensor {} with shape [{}] {}", shown(tensor.name),
                                    fmt::join(tensor.shape, ", "), what));
    };
    // No type needs less than half a byte per element.
    const std::uint64_t most_elements = 2 * static_cast<std::uint64_t>(file_bytes);
    std::int64_t elements = 1;
    for (const std::int64_t extent : tensor.shape) {
        if (extent < 0) refuse("has a negative extent");
        if (__builtin_mul_overflow(elements, extent, &elements)) refuse("is larger than the file");
    }
    if (static_cast<std::uint64_t>(elements) > most_elements) refuse("is larger than the file");
    const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
    if (const std::int64_t unit = block_size(tensor.type).elements; row % unit != 0)
        refuse(fmt::format("is stored as {}, which needs rows of a multiple of {} elements",
                           to_string(tensor.type), unit));
    return stored_bytes(tensor.type, elements);
}

void check_apart(std::string_view file, const std::vector<TensorEntry>& tensors) {
    std::vector<const TensorEntry*> order;
    order.reserve(tensors.size());
    for (const TensorEntry& tensor : tensors) order.push_back(&tensor);

    std::sort(order.begin(), order.end(),
              [](const auto* a, const auto* b) { return a->name < b->name; });
    for (std::size_t i = 1; i < order.size(); ++i)
        if (order[i - 1]->name == order[i]->name)
            malformed(file, fmt::format("two tensors are named {}", shown(order[i]->name)));

    std::erase_if(order, [](const TensorEntry* tensor) { return tensor->bytes.empty(); });
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        return std::less<>()(a->bytes.data(), b->bytes.data());
    });
    for (std::size_t i = 1; i < order.size(); ++i)
        if (std::less<>()(order[i]->bytes.data(),
                          order[i - 1]->bytes.data() + order[i - 1]->bytes.size()))
            malformed(file, fmt::format("the tensors {} and {} overlap", shown(order[i - 1]->name),
                                        shown(order[i]->name)));
}

}  // namespace assay::nn
