// Kernel images: bytes that are none are an ImageError; of others the extent lies in what was
// given, kernels are in order, and what lies behind the extent changes nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "impls/foundry/method/images/image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay::foundry;
    const auto bytes = std::as_bytes(std::span(data, size));
    try {
        const Image image = read_image(bytes);
        if (image.bytes > size ||
            (image.entries.size() != 1 && image.container != Container::fatbin))
            std::abort();
        for (const ImageEntry& entry : image.entries) {
            if (entry.kind != CodeKind::cubin && !entry.kernels.empty()) std::abort();
            if (!std::ranges::is_sorted(entry.kernels, {}, &Kernel::name)) std::abort();
            for (const Kernel& kernel : entry.kernels) {
                const auto found = find_kernel(image, kernel.name);
                if (!found || found->least_params_bytes > kernel.params_bytes()) std::abort();
            }
        }
        if (read_image(bytes.first(image.bytes)) != image) std::abort();
    } catch (const ImageError&) {
    }
    return 0;
}
