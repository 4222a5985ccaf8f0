// What a kernel binary holds: its container, how long it is, and how the parameters of its kernels
// are laid out (specification 3.4, 3.6). Read from bytes alone, without a driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "impls/foundry/method/graphs/graph.hpp"
#include "suite/base/describe.hpp"

namespace assay::foundry {

enum class Container : std::uint8_t { cubin, fatbin, ptx };
ASSAY_NAMES(Container, cubin, fatbin, ptx)

/// other: what is linked or compiled further before it runs (LTO).
enum class CodeKind : std::uint8_t { cubin, ptx, other };
ASSAY_NAMES(CodeKind, cubin, ptx, other)

/// Where a parameter lies in a launch's packed parameters.
struct Parameter {
    std::uint32_t offset = 0, bytes = 0;

    bool operator==(const Parameter&) const = default;
};

struct Kernel {
    std::string name;               ///< mangled
    std::vector<Parameter> params;  ///< in the order of the declaration
    std::optional<Extent> cluster;  ///< fixed when it was compiled (__cluster_dims__)

    /// Where the last parameter ends; 0 without any. Fewer bytes cannot launch it.
    std::uint32_t params_bytes() const;
    bool operator==(const Kernel&) const = default;
};

struct ImageEntry {
    CodeKind kind = CodeKind::cubin;
    std::optional<std::uint32_t> sm;  ///< 90 of sm_90a; absent: PTX outside of a fatbin
    std::vector<Kernel> kernels;      ///< by rising name; none unless it is a cubin

    bool operator==(const ImageEntry&) const = default;
};

struct Image {
    Container container = Container::cubin;
    std::uint64_t bytes = 0;          ///< its own extent; what was given may be longer
    std::vector<ImageEntry> entries;  ///< of a fatbin in file order, else one

    bool operator==(const Image&) const = default;
};

/// What is wrong with an image, without the file's name: "truncated cubin: section 4 is 1000 bytes
/// at 8000, only 8400 bytes are there".
struct ImageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The image that `bytes` begins with; what follows its end is ignored. PTX ends before the first
/// NUL. ImageError: none of the three, cut short, contradictory, or larger than
/// `largest_decompressed` once decompressed.
Image read_image(std::span<const std::byte> bytes);

/// Of one entry of a fatbin. NCCL has entries of 128 MiB.
inline constexpr std::uint64_t largest_decompressed = std::uint64_t{1} << 30;

/// What an image tells of one kernel.
struct KernelOfImage {
    const Kernel* first = nullptr;  ///< of the first cubin that has it
    /// The fewest over all its cubins: where an aligned parameter lies depends on the architecture.
    std::uint32_t least_params_bytes = 0;
};

/// nullopt: no cubin of the image has it. What it points to lives as long as the image.
std::optional<KernelOfImage> find_kernel(const Image&, std::string_view name);
std::optional<KernelOfImage> find_kernel(Image&&, std::string_view name) = delete;

/// False for an image without a cubin (PTX, LTO): which kernels it has is known once it is
/// compiled, so that one that find_kernel() does not find need not be missing.
bool knows_kernels(const Image&);

}  // namespace assay::foundry
