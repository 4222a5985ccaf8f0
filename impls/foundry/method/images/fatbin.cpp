// Fatbins: a header, then entries, each with a header of its own and the code of one architecture.
// The layout is the one that nvcc 13.0 writes (specification 3.4); the toolkit documents none.
#include "impls/foundry/method/images/formats.hpp"

namespace assay::foundry {
namespace {

constexpr std::uint32_t fatbin_magic = 0xBA55ED50;
/// What __cudaRegisterFatBinary() gets: it points to a fatbin in the memory of a process.
constexpr std::uint32_t wrapper_magic = 0x466243B1;
constexpr std::uint64_t fatbin_header_bytes = 16;
constexpr std::uint64_t entry_header_bytes = 64;  ///< what is read of it; more may follow

struct EntryHeader {
    explicit EntryHeader(std::span<const std::byte> at)
        : kind(copy_at<std::uint16_t>(at, 0)),
          header(copy_at<std::uint32_t>(at, 4)),
          payload(copy_at<std::uint64_t>(at, 8)),
          stored(copy_at<std::uint32_t>(at, 16)),
          sm(copy_at<std::uint32_t>(at, 28)),
          flags(copy_at<std::uint32_t>(at, 40)),
          raw(copy_at<std::uint64_t>(at, 56)) {}

    std::uint16_t kind;
    std::uint32_t header;   ///< bytes of this header
    std::uint64_t payload;  ///< bytes behind it, to the next entry
    std::uint32_t stored;   ///< of these, the compressed ones; 0: not compressed
    std::uint32_t sm;
    std::uint32_t flags;
    std::uint64_t raw;  ///< bytes once decompressed
};

CodeKind kind_of(const EntryHeader& entry) {
    switch (entry.kind) {
        case 1:
            return CodeKind::ptx;
        case 2:
            return CodeKind::cubin;
        default:
            return CodeKind::other;  // 8: LTO
    }
}

Compression compression_of(const EntryHeader& entry) {
    constexpr std::uint32_t lz4_flag = 0x2000, zstd_flag = 0x8000;
    if (entry.flags & zstd_flag) return Compression::zstd;
    if (entry.flags & lz4_flag) return Compression::lz4;
    throw ImageError(fmt::format(
        "compressed neither by zstd nor by LZ4 (flags {:#x}); compile with -no-compress",
        entry.flags));
}

std::vector<Kernel> kernels_of(const EntryHeader& entry, std::span<const std::byte> payload) {
    if (entry.stored == 0) return read_cubin(payload).kernels;
    const auto stored = part_of(payload, 0, entry.stored, "entry", "compressed code");
    return read_cubin(decompress(stored, compression_of(entry), entry.raw)).kernels;
}

}  // namespace

bool begins_as_fatbin(std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof fatbin_magic) return false;
    const auto magic = copy_at<std::uint32_t>(bytes, 0);
    if (magic == wrapper_magic)
        throw ImageError(
            "a fatbin's wrapper, which points into the memory of a process; store the fatbin that "
            "it points to");
    return magic == fatbin_magic;
}

Image read_fatbin(std::span<const std::byte> bytes) {
    part_of(bytes, 0, fatbin_header_bytes, "fatbin", "its header");
    const auto version = copy_at<std::uint16_t>(bytes, 4);
    const auto header = copy_at<std::uint16_t>(bytes, 6);
    const auto payload = copy_at<std::uint64_t>(bytes, 8);
    if (version != 1) throw ImageError(fmt::format("fatbin of version {}, not 1", version));
    if (header < fatbin_header_bytes)
        throw ImageError(fmt::format("fatbin with a header of {} bytes, not 16", header));
    part_of(bytes, 0, header, "fatbin", "its header");
    // Only its own: behind it other fatbins may follow, as in a library's section.
    std::span<const std::byte> rest = part_of(bytes, header, payload, "fatbin", "its payload");

    Image image{.container = Container::fatbin, .bytes = header + payload, .entries = {}};
    while (!rest.empty()) {
        try {
            const EntryHeader entry(part_of(rest, 0, entry_header_bytes, "fatbin", "its header"));
            if (entry.header < entry_header_bytes)
                throw ImageError(fmt::format("its header has {} bytes, not 64", entry.header));
            part_of(rest, 0, entry.header, "fatbin", "its header");
            const auto code = part_of(rest, entry.header, entry.payload, "fatbin", "its code");
            const CodeKind kind = kind_of(entry);
            image.entries.push_back({.kind = kind,
                                     .sm = entry.sm,
                                     .kernels = kind == CodeKind::cubin ? kernels_of(entry, code)
                                                                        : std::vector<Kernel>{}});
            rest = rest.subspan(entry.header + entry.payload);
        } catch (const ImageError& error) {
            throw ImageError(fmt::format("entry {}: {}", image.entries.size(), error.what()));
        }
    }
    return image;
}

}  // namespace assay::foundry
