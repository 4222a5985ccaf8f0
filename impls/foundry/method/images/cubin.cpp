// Cubins: ELF files whose kernels are symbols, and whose .nv.info.NAME sections say how a kernel's
// parameters are laid out (specification 3.4, 3.6).
#include <elf.h>

#include <algorithm>
#include <unordered_map>

#include "impls/foundry/method/images/formats.hpp"

namespace assay::foundry {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t info_section = SHT_LOPROC;  // .nv.info and .nv.info.NAME
constexpr unsigned char kernel_bit = 0x10;          // of a symbol's st_other
constexpr std::size_t longest_name = 65535;  // far above any mangled name; bounds copies of it

struct Section {
    Elf64_Shdr header{};
    Bytes content;  ///< none where takes_no_room()
};

/// Memory that a kernel is given, in executables of type SHT_NOBITS. In relocatable cubins
/// (nvcc -rdc=true) CUDA's own types stand instead, and the sizes reach behind the file's end.
bool takes_no_room(std::uint32_t section_type) {
    constexpr std::uint32_t global = SHT_LOPROC + 7, local = SHT_LOPROC + 9;
    constexpr std::uint32_t shared = SHT_LOPROC + 0xa, reserved_shared = SHT_LOPROC + 0x15;
    switch (section_type) {
        case SHT_NULL:
        case SHT_NOBITS:
        case global:
        case local:
        case shared:
        case reserved_shared:
            return true;
        default:
            return false;
    }
}

std::string_view text_at(Bytes strings, std::uint64_t offset) {
    if (offset >= strings.size())
        throw ImageError(fmt::format("a name is at {} of {} bytes", offset, strings.size()));
    const std::string_view rest(reinterpret_cast<const char*>(strings.data()) + offset,
                                std::min(strings.size() - offset, longest_name + 1));
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos)
        throw ImageError(fmt::format("the name at {} does not end", offset));
    return rest.substr(0, end);
}

/// nvcc 13.0, and 12.9 for sm_100 and later, write ABI version 8 and the SM in bits 8-15; earlier
/// ones version 7 and the SM in the low byte (seen with ptxas 11.8 and 12.9).
std::uint32_t sm_of(const Elf64_Ehdr& header) {
    return header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
}

Elf64_Ehdr header_of(Bytes bytes) {
    part_of(bytes, 0, sizeof(Elf64_Ehdr), "cubin", "its header");
    const auto header = copy_at<Elf64_Ehdr>(bytes, 0);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        throw ImageError(
            "an ELF file that is not 64-bit, little-endian: no cubin of a 64-bit host");
    if (header.e_machine != EM_CUDA)
        throw ImageError(
            fmt::format("an ELF file for machine {}, not {} (CUDA): a host's library "
                        "or object; extract its images first",
                        header.e_machine, EM_CUDA));
    return header;
}

/// `count` entries of a table, of which `entry_bytes` is the size that this reader knows.
Bytes table_of(Bytes bytes, std::uint64_t offset, std::uint64_t count, std::uint64_t entry_bytes,
               std::uint64_t expected_bytes, std::string_view what) {
    if (count == 0) return {};
    if (entry_bytes != expected_bytes)
        throw ImageError(
            fmt::format("{} has entries of {} bytes, not {}", what, entry_bytes, expected_bytes));
    return part_of(bytes, offset, count * entry_bytes, "cubin", what);
}

/// Its sections, and the largest end of any of its parts.
class Elf {
  public:
    explicit Elf(Bytes bytes) : bytes_(bytes), header_(header_of(bytes)) {
        end_ = sizeof header_;
        read_sections();
        const Bytes segments = table_of(bytes_, header_.e_phoff, header_.e_phnum,
                                        header_.e_phentsize, sizeof(Elf64_Phdr), "segment table");
        reach(segments);
        for (std::uint64_t at = 0; at < segments.size(); at += sizeof(Elf64_Phdr)) {
            const auto segment = copy_at<Elf64_Phdr>(segments, at);
            reach(part_of(bytes_, segment.p_offset, segment.p_filesz, "cubin",
                          fmt::format("segment {}", at / sizeof(Elf64_Phdr))));
        }
    }

    const Elf64_Ehdr& header() const { return header_; }
    const std::vector<Section>& sections() const { return sections_; }
    std::uint64_t end() const { return end_; }
    /// Of a section that others refer to by its index.
    Bytes content(std::uint32_t section) const {
        if (section >= sections_.size())
            throw ImageError(fmt::format("section {} of {}", section, sections_.size()));
        return sections_[section].content;
    }
    Bytes section_names() const {
        return content(header_.e_shstrndx == SHN_XINDEX ? sections_.at(0).header.sh_link
                                                        : header_.e_shstrndx);
    }

  private:
    void reach(Bytes part) {
        if (part.empty()) return;
        end_ =
            std::max(end_, static_cast<std::uint64_t>(part.data() + part.size() - bytes_.data()));
    }

    void read_sections() {
        if (header_.e_shoff == 0) return;
        std::uint64_t count = header_.e_shnum;
        if (count == 0)  // more than 16 bits hold: the first one says
            count = copy_at<Elf64_Shdr>(bytes_, header_.e_shoff).sh_size;
        // A table has fewer entries than bytes, or its size below could overflow.
        if (count == 0 || count > bytes_.size())
            throw ImageError(fmt::format("a section table of {} sections", count));
        const Bytes table = table_of(bytes_, header_.e_shoff, count, header_.e_shentsize,
                                     sizeof(Elf64_Shdr), "section table");
        reach(table);
        sections_.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            Section section{copy_at<Elf64_Shdr>(table, i * sizeof(Elf64_Shdr)), {}};
            if (!takes_no_room(section.header.sh_type))
                section.content = part_of(bytes_, section.header.sh_offset, section.header.sh_size,
                                          "cubin", fmt::format("section {}", i));
            reach(section.content);
            sections_.push_back(section);
        }
    }

    Bytes bytes_;
    Elf64_Ehdr header_;
    std::vector<Section> sections_;
    std::uint64_t end_ = 0;
};

/// Of a kernel's .nv.info section.
struct KernelInfo {
    std::vector<std::pair<std::uint16_t, Parameter>> params;  ///< by ordinal, in any order
    std::optional<Extent> cluster;
};

/// Records: u8 format, u8 attribute, then two bytes; in format 4 these are the size of what
/// follows, in the others all there is.
KernelInfo read_info(Bytes section) {
    constexpr std::uint8_t sized = 4;
    constexpr std::uint8_t param = 0x17, large_param = 0x45, required_cluster = 0x3d;
    KernelInfo info;
    for (std::uint64_t at = 0; at < section.size();) {
        const auto format = copy_at<std::uint8_t>(section, at);
        const auto attribute = copy_at<std::uint8_t>(section, at + 1);
        const auto size = copy_at<std::uint16_t>(section, at + 2);
        at += 4;
        if (format < 1 || format > sized)
            throw ImageError(fmt::format("a record of format {} at {}", format, at - 4));
        if (format != sized) continue;
        const Bytes payload = part_of(section, at, size, "section", "a record");
        at += size;
        const auto ordinal = [&] { return copy_at<std::uint16_t>(payload, 4); };
        const auto offset = [&] { return copy_at<std::uint16_t>(payload, 6); };
        if (attribute == param)
            info.params.emplace_back(ordinal(),
                                     Parameter{offset(), copy_at<std::uint32_t>(payload, 8) >> 18});
        else if (attribute == large_param)
            info.params.emplace_back(ordinal(),
                                     Parameter{offset(), copy_at<std::uint16_t>(payload, 8)});
        else if (attribute == required_cluster)
            info.cluster = copy_at<Extent>(payload, 0);
    }
    return info;
}

Kernel kernel_of(std::string_view name, KernelInfo info) {
    Kernel kernel{.name = std::string(name), .params = {}, .cluster = info.cluster};
    std::ranges::sort(info.params, {}, &std::pair<std::uint16_t, Parameter>::first);
    for (const auto& [ordinal, param] : info.params) {
        if (ordinal != kernel.params.size())
            throw ImageError(
                fmt::format("parameter {} {}", std::min<std::size_t>(ordinal, kernel.params.size()),
                            ordinal < kernel.params.size() ? "is given twice" : "is missing"));
        kernel.params.push_back(param);
    }
    return kernel;
}

using InfoSections = std::unordered_map<std::string_view, Bytes>;

InfoSections info_sections(const Elf& elf) {
    constexpr std::string_view prefix = ".nv.info.";
    InfoSections by_kernel;
    for (const Section& section : elf.sections()) {
        if (section.header.sh_type != info_section) continue;
        const std::string_view name = text_at(elf.section_names(), section.header.sh_name);
        if (name.starts_with(prefix))
            by_kernel.emplace(name.substr(prefix.size()), section.content);
    }
    return by_kernel;
}

/// Functions are symbols, too; kernels have a bit of st_other set.
std::vector<Kernel> read_kernels(const Elf& elf) {
    const InfoSections info = info_sections(elf);
    std::vector<Kernel> kernels;
    for (const Section& table : elf.sections()) {
        if (table.header.sh_type != SHT_SYMTAB) continue;
        for (std::uint64_t at = 0; at < table.content.size(); at += sizeof(Elf64_Sym)) {
            const auto symbol = copy_at<Elf64_Sym>(table.content, at);
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
                (symbol.st_other & kernel_bit) == 0)
                continue;
            const auto name = text_at(elf.content(table.header.sh_link), symbol.st_name);
            const auto found = info.find(name);
            try {
                kernels.push_back(
                    kernel_of(name, found == info.end() ? KernelInfo{} : read_info(found->second)));
            } catch (const ImageError& error) {
                throw ImageError(fmt::format("kernel {}: {}", name, error.what()));
            }
        }
    }
    std::ranges::sort(kernels, {}, &Kernel::name);
    const auto twice = std::ranges::adjacent_find(kernels, {}, &Kernel::name);
    if (twice != kernels.end()) throw ImageError(fmt::format("kernel {} twice", twice->name));
    return kernels;
}

}  // namespace

bool begins_as_elf(Bytes bytes) {
    return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

Cubin read_cubin(Bytes bytes) {
    if (!begins_as_elf(bytes)) throw ImageError("not a cubin: no ELF file");
    const Elf elf(bytes);
    return {.bytes = elf.end(), .sm = sm_of(elf.header()), .kernels = read_kernels(elf)};
}

}  // namespace assay::foundry
