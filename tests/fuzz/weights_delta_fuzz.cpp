// Deltas of weights. An input is the number of elements in a byte, then the file. What is taken is
// what a plain reading of the format takes, and replaces the same elements; what is refused
// replaces nothing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "impls/weights/delta.hpp"
#include "suite/base/error.hpp"

namespace {

using namespace assay::weights;

std::vector<std::byte> version_before(std::size_t elements) {
    std::vector<std::byte> version(2 * elements);
    for (std::size_t i = 0; i < version.size(); ++i) version[i] = static_cast<std::byte>(7 * i);
    return version;
}

std::uint64_t number(std::span<const std::byte> file, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;)
        value = value << 8 | std::to_integer<std::uint64_t>(file[at + i]);
    return value;
}

/// nullopt: it is no delta of so many elements.
std::optional<std::vector<std::byte>> plain_reading(std::span<const std::byte> file,
                                                    std::size_t elements) {
    if (file.size() < 16 || number(file, 8, 2) != 2 || number(file, 10, 2) > 1 ||
        number(file, 12, 4) != 0)
        return std::nullopt;
    const std::uint64_t changed = number(file, 0, 8);
    const std::size_t width = number(file, 10, 2) == 1 ? 8 : 4;
    if (changed > elements || file.size() != 16 + changed * (width + 2)) return std::nullopt;
    std::vector<std::byte> version = version_before(elements);
    std::optional<std::uint64_t> last;
    for (std::size_t i = 0; i < changed; ++i) {
        const std::uint64_t offset = number(file, 16 + i * width, width);
        if (offset >= elements || (last && offset <= *last)) return std::nullopt;
        last = offset;
        for (const std::size_t byte : {0, 1})
            version[2 * offset + byte] = file[16 + changed * width + 2 * i + byte];
    }
    return version;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t elements = data[0];
    const auto file = std::as_bytes(std::span(data, size)).subspan(1);
    const auto expected = plain_reading(file, elements);
    std::vector<std::byte> version = version_before(elements);
    try {
        apply_delta(assay::nn::UntrustedFile("delta", file), version);
        if (!expected || version != *expected) std::abort();
        // The delta that is made of both versions leads there, too.
        const auto before = version_before(elements), delta = make_delta(before, version);
        auto again = before;
        apply_delta(assay::nn::UntrustedFile("delta", delta), again);
        if (again != version) std::abort();
    } catch (const assay::UserError&) {
        if (expected || version != version_before(elements)) std::abort();
    }
    return 0;
}
