#include "impls/weights/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "impls/nn/files/untrusted_file.hpp"
#include "suite/base/sha256.hpp"

namespace assay::weights {
namespace {

constexpr std::uint64_t most_elements = std::numeric_limits<std::uint64_t>::max() / element_bytes;

std::uint64_t elements_of(const nn::NamedShape& tensor) {
    std::uint64_t product = 1;
    for (const std::int64_t extent : tensor.shape) {
        if (extent < 0) throw std::invalid_argument(tensor.name + " has an extent below 0");
        const auto count = static_cast<std::uint64_t>(extent);
        if (count != 0 && product > most_elements / count)
            throw std::invalid_argument(tensor.name + " has more bytes than can be counted");
        product *= count;
    }
    return product;
}

}  // namespace

Layout::Layout(std::vector<nn::NamedShape> tensors) {
    std::ranges::sort(tensors, {}, &nn::NamedShape::name);
    for (nn::NamedShape& tensor : tensors) {
        if (!tensors_.empty() && tensors_.back().name == tensor.name)
            throw std::invalid_argument("two tensors are named " + tensor.name);
        const std::uint64_t count = elements_of(tensor);
        if (count > most_elements - elements_)
            throw std::invalid_argument("these tensors have more bytes than can be counted");
        tensors_.push_back({.name = std::move(tensor.name),
                            .shape = std::move(tensor.shape),
                            .first = elements_,
                            .elements = count});
        elements_ += count;
    }
}

std::string difference(const Layout& wanted, const Layout& found) {
    auto here = found.tensors().begin();
    for (const LaidTensor& tensor : wanted.tensors()) {
        if (here != found.tensors().end() && here->name < tensor.name) break;
        if (here == found.tensors().end() || here->name != tensor.name)
            return fmt::format("tensor {} is missing", nn::shown(tensor.name));
        if (here->shape != tensor.shape)
            return fmt::format("tensor {} has the shape [{}], not [{}]", nn::shown(tensor.name),
                               fmt::join(here->shape, ", "), fmt::join(tensor.shape, ", "));
        ++here;
    }
    if (here == found.tensors().end()) return {};
    return fmt::format("there is one tensor more, {}", nn::shown(here->name));
}

std::string digest_of(std::span<const std::byte> version) {
    return sha256_hex({reinterpret_cast<const char*>(version.data()), version.size()});
}

}  // namespace assay::weights
