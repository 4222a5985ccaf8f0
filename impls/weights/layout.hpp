// A version of a model's weights as bytes: its tensors by name in byte order, each row-major in
// bf16 (norms too), one directly behind the other. Two versions of one layout differ in values
// only. Torch-free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"

namespace assay::weights {

/// Of a bf16 number.
inline constexpr std::uint64_t element_bytes = 2;

struct LaidTensor {
    std::string name;
    std::vector<std::int64_t> shape;  ///< outermost first; empty: one element
    std::uint64_t first = 0;          ///< element of the version that is its first
    std::uint64_t elements = 0;

    bool operator==(const LaidTensor&) const = default;
};

class Layout {
  public:
    Layout() = default;
    /// In any order. Throws std::invalid_argument for two tensors of one name, an extent below 0,
    /// and more bytes than 64 bits count.
    explicit Layout(std::vector<nn::NamedShape> tensors);

    const std::vector<LaidTensor>& tensors() const { return tensors_; }
    std::uint64_t elements() const { return elements_; }
    std::uint64_t bytes() const { return elements_ * element_bytes; }

    bool operator==(const Layout&) const = default;

  private:
    std::vector<LaidTensor> tensors_;
    std::uint64_t elements_ = 0;
};

/// What in `found` is not as in `wanted`, for messages: "tensor \"norm\" has the shape [3], not
/// [4]". Empty: they are equal.
std::string difference(const Layout& wanted, const Layout& found);

struct Version {
    std::uint64_t number = 0;  ///< 0: of no update; each update makes the next
    Layout layout;
    std::string digest;  ///< digest_of() its bytes
};

/// SHA-256 of a version's bytes, 64 lower-case hexadecimal digits.
std::string digest_of(std::span<const std::byte> version);

}  // namespace assay::weights
