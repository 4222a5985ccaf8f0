#include "impls/foundry/method/archive/image_index.hpp"

#include "impls/foundry/method/archive/byte_stream.hpp"

namespace assay::foundry {
namespace {

constexpr std::string_view magic = "assay-im";
enum class Section : std::uint32_t { images = 1 };

void add_kernel(ByteWriter& out, const Kernel& kernel) {
    out.text(kernel.name);
    out.number(kernel.params.size());
    for (const Parameter& param : kernel.params) {
        out.number(param.offset);
        out.number(param.bytes);
    }
    out.number(kernel.cluster ? 1 : 0);
    if (kernel.cluster)
        for (const std::uint32_t blocks : *kernel.cluster) out.number(blocks);
}

Kernel kernel(ByteReader& in) {
    Kernel result{.name = std::string(in.text()), .params = {}, .cluster = std::nullopt};
    for (std::uint64_t left = in.number(); left > 0; --left) {
        const std::uint32_t offset = in.number_32();
        result.params.push_back({.offset = offset, .bytes = in.number_32()});
    }
    if (in.number_32(1) == 1)
        for (std::uint32_t& blocks : result.cluster.emplace()) blocks = in.number_32();
    return result;
}

ImageEntry entry(ByteReader& in) {
    ImageEntry result;
    result.kind = static_cast<CodeKind>(in.number_32(static_cast<int>(CodeKind::other)));
    if (in.number_32(1) == 1) result.sm = in.number_32();
    for (std::uint64_t left = in.number(); left > 0; --left) result.kernels.push_back(kernel(in));
    return result;
}

StoredImage image(ByteReader& in) {
    StoredImage result;
    result.sha256 = in.text();
    result.offset = in.number();
    result.bytes = in.number();
    result.image.container = static_cast<Container>(in.number_32(static_cast<int>(Container::ptx)));
    result.image.bytes = in.number();
    for (std::uint64_t left = in.number(); left > 0; --left)
        result.image.entries.push_back(entry(in));
    return result;
}

}  // namespace

void write_image_index(std::span<const StoredImage> images, const ByteSink& sink) {
    ByteWriter out;
    for (const StoredImage& stored : images) {
        out.text(stored.sha256);
        out.number(stored.offset);
        out.number(stored.bytes);
        out.number(static_cast<std::uint64_t>(stored.image.container));
        out.number(stored.image.bytes);
        out.number(stored.image.entries.size());
        for (const ImageEntry& each : stored.image.entries) {
            out.number(static_cast<std::uint64_t>(each.kind));
            out.number(each.sm ? 1 : 0);
            if (each.sm) out.number(*each.sm);
            out.number(each.kernels.size());
            for (const Kernel& one : each.kernels) add_kernel(out, one);
        }
    }
    SectionWriter file(magic);
    file.add(Section::images, out.bytes());
    file.write(sink);
}

std::vector<StoredImage> read_image_index(std::span<const std::byte> file, const std::string& name,
                                          std::uint64_t images_bytes) {
    const SectionFile sections(file, magic, name);
    ByteReader in(sections.array<std::byte>(Section::images), sections.name());
    std::vector<StoredImage> images;
    while (!in.at_end()) {
        images.push_back(image(in));
        const StoredImage& last = images.back();
        if (last.offset > images_bytes || last.bytes > images_bytes - last.offset)
            in.refuse("an image lies outside of images.bin");
        if (last.image.bytes > last.bytes) in.refuse("an image is longer than what is stored");
    }
    return images;
}

}  // namespace assay::foundry
