#include "impls/foundry/method/images/image.hpp"

#include <algorithm>

#include "impls/foundry/method/images/formats.hpp"

namespace assay::foundry {
namespace {

/// Behind blanks and comments; npos: a comment does not end.
std::size_t first_directive(std::string_view text) {
    std::size_t at = 0;
    while ((at = text.find_first_not_of(" \t\r\n\v\f", at)) != std::string_view::npos) {
        const std::string_view rest = text.substr(at);
        if (rest.starts_with("//"))
            at = text.find('\n', at);
        else if (rest.starts_with("/*")) {
            at = text.find("*/", at + 2);
            if (at != std::string_view::npos) at += 2;
        } else
            break;
    }
    return at;
}

Image read_ptx(std::span<const std::byte> bytes) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text = text.substr(0, text.find('\0'));
    const std::size_t at = first_directive(text);
    if (at == std::string_view::npos || !text.substr(at).starts_with(".version"))
        throw ImageError(
            "neither a cubin, a fatbin nor PTX: it begins with none of their marks (ELF, "
            "0xba55ed50, \".version\")");
    return {.container = Container::ptx,
            .bytes = text.size(),
            .entries = {{.kind = CodeKind::ptx, .sm = std::nullopt, .kernels = {}}}};
}

}  // namespace

std::uint32_t Kernel::params_bytes() const {
    std::uint32_t end = 0;
    for (const Parameter& param : params) end = std::max(end, param.offset + param.bytes);
    return end;
}

Image read_image(std::span<const std::byte> bytes) {
    if (bytes.empty()) throw ImageError("empty: an image is a cubin, a fatbin or PTX");
    if (begins_as_fatbin(bytes)) return read_fatbin(bytes);
    if (begins_as_elf(bytes)) {
        Cubin cubin = read_cubin(bytes);
        return {
            .container = Container::cubin,
            .bytes = cubin.bytes,
            .entries = {
                {.kind = CodeKind::cubin, .sm = cubin.sm, .kernels = std::move(cubin.kernels)}}};
    }
    return read_ptx(bytes);
}

std::optional<KernelOfImage> find_kernel(const Image& image, std::string_view name) {
    std::optional<KernelOfImage> found;
    for (const ImageEntry& entry : image.entries) {
        const auto kernel = std::ranges::lower_bound(entry.kernels, name, {}, &Kernel::name);
        if (kernel == entry.kernels.end() || kernel->name != name) continue;
        const std::uint32_t bytes = kernel->params_bytes();
        if (!found) found = KernelOfImage{&*kernel, bytes};
        found->least_params_bytes = std::min(found->least_params_bytes, bytes);
    }
    return found;
}

bool knows_kernels(const Image& image) {
    return std::ranges::any_of(
        image.entries, [](const ImageEntry& entry) { return entry.kind == CodeKind::cubin; });
}

}  // namespace assay::foundry
