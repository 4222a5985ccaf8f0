// The committed fatbin, inside the program: ASSAY_TOY_IMAGE is its path when this is compiled.
#include <cstddef>
#include <span>

#include "impls/foundry/toy/host_kernels.hpp"

asm(R"(
    .section .rodata
    .balign 64
    .hidden assay_toy_image
    .hidden assay_toy_image_end
    .globl assay_toy_image
    .globl assay_toy_image_end
assay_toy_image:
    .incbin ")" ASSAY_TOY_IMAGE R"("
assay_toy_image_end:
    .byte 0
    .text
)");
extern "C" const std::byte assay_toy_image[], assay_toy_image_end[];

namespace assay::foundry::toy {

std::span<const std::byte> decode_image() {
    return {assay_toy_image, static_cast<std::size_t>(assay_toy_image_end - assay_toy_image)};
}

}  // namespace assay::foundry::toy
