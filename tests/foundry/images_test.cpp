// Images as nvcc wrote them (images/build.sh), against the declarations of their PTX; and the same
// images cut short, damaged, packed in other ways.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>

#include <cctype>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "impls/foundry/commands/image_output.hpp"

namespace assay::foundry {
namespace {

using testing::HasSubstr;

std::string file(const std::string& name) {
    std::ifstream in(std::string(ASSAY_FOUNDRY_IMAGES) + '/' + name, std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(in), {}};
    EXPECT_FALSE(content.empty()) << name;
    return content;
}

Image read(const std::string& bytes) { return read_image(std::as_bytes(std::span(bytes))); }

/// Why it is refused; empty: it is not.
std::string refusal(const std::string& bytes) {
    try {
        read(bytes);
        return "";
    } catch (const ImageError& error) {
        return error.what();
    }
}

std::uint32_t rounded_up(std::uint32_t value, std::uint32_t step) {
    return (value + step - 1) / step * step;
}

std::string between(const std::string& text, std::size_t& at, char end) {
    const std::size_t from = at;
    at = text.find(end, from) + 1;
    return text.substr(from, at - 1 - from);
}

/// The kernels that PTX declares. Parameters lie in the constant bank of the architecture from
/// `base` on, each aligned there: an alignment above that of `base` shifts the offset.
std::vector<Kernel> declared(const std::string& ptx, std::uint32_t base, bool clusters = true) {
    const auto number = [](const std::string& digits) {
        return static_cast<std::uint32_t>(std::stoul(digits));
    };
    const std::string entry = ".entry ";
    std::vector<Kernel> kernels;
    for (std::size_t at = 0; (at = ptx.find(entry, at)) != std::string::npos;) {
        at += entry.size();
        Kernel kernel{.name = between(ptx, at, '('), .params = {}, .cluster = std::nullopt};
        std::istringstream params(between(ptx, at, ')'));
        std::uint32_t next = base;
        for (std::string param; std::getline(params, param, ',');) {
            std::uint32_t align = 0, bytes = 0, count = 1;
            std::istringstream words(param);
            for (std::string word; words >> word;) {
                if (bytes == 0 && word == ".align")  // behind the type: of what it points to
                    words >> align;
                else if (bytes == 0 && std::isdigit(word.at(2)))  // ".u64"
                    bytes = number(word.substr(2)) / 8;
                else if (word.back() == ']')
                    count = number(word.substr(word.find('[') + 1));
            }
            next = rounded_up(next, align ? align : bytes);
            kernel.params.push_back({next - base, bytes * count});
            next += bytes * count;
        }
        Extent cluster{};
        const std::string directives = between(ptx, at, '{'), required = ".reqnctapercluster";
        if (const std::size_t found = directives.find(required); found != std::string::npos) {
            if (!clusters) continue;  // layouts.cu has it for sm_90 and later alone
            std::sscanf(directives.c_str() + found + required.size(), "%u, %u, %u", &cluster[0],
                        &cluster[1], &cluster[2]);
            kernel.cluster = cluster;
        }
        kernels.push_back(std::move(kernel));
    }
    std::ranges::sort(kernels, {}, &Kernel::name);
    return kernels;
}

constexpr std::uint32_t base_sm_80 = 0x160, base_sm_90 = 0x210, base_sm_100 = 0x380;

struct Entry {
    std::uint16_t kind = 2;
    std::uint32_t sm = 80, flags = 0;
    std::uint32_t stored = 0;
    std::uint64_t raw = 0;
    std::string payload = {};
};

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::string fatbin(const std::vector<Entry>& entries) {
    std::string all(16, '\0');
    for (const Entry& entry : entries) {
        std::string header(64, '\0');
        put(header, 0, entry.kind);
        put(header, 4, std::uint32_t{64});
        put(header, 8, std::uint64_t{entry.payload.size()});
        put(header, 16, entry.stored);
        put(header, 28, entry.sm);
        put(header, 40, entry.flags);
        put(header, 56, entry.raw);
        all += header + entry.payload;
    }
    put(all, 0, 0xBA55ED50);
    put(all, 4, std::uint16_t{1});
    put(all, 6, std::uint16_t{16});
    put(all, 8, std::uint64_t{all.size() - 16});
    return all;
}

Entry lz4(const std::string& cubin) {
    std::string packed(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(cubin.size()))),
                       '\0');
    const int bytes =
        LZ4_compress_default(cubin.data(), packed.data(), static_cast<int>(cubin.size()),
                             static_cast<int>(packed.size()));
    packed.resize(rounded_up(static_cast<std::uint32_t>(bytes), 8));  // payloads are padded
    return {.flags = 0x2000,
            .stored = static_cast<std::uint32_t>(bytes),
            .raw = cubin.size(),
            .payload = packed};
}

TEST(Images, LayoutsAreTheOnesThatPtxDeclares) {
    const std::string ptx = file("layouts.ptx"), bytes = file("layouts.fatbin");
    const Image image = read(bytes);
    EXPECT_EQ(image.container, Container::fatbin);
    EXPECT_EQ(image.bytes, bytes.size());
    ASSERT_EQ(image.entries.size(), 4U);
    EXPECT_EQ(image.entries[0],
              (ImageEntry{CodeKind::cubin, 80, declared(ptx, base_sm_80, false)}));
    EXPECT_EQ(image.entries[1], (ImageEntry{CodeKind::cubin, 90, declared(ptx, base_sm_90)}));
    EXPECT_EQ(image.entries[2], (ImageEntry{CodeKind::cubin, 100, declared(ptx, base_sm_100)}));
    EXPECT_EQ(image.entries[3], (ImageEntry{CodeKind::ptx, 100, {}}));

    // What the oracle reads, once by hand.
    EXPECT_EQ(image.entries[1].kernels[4],
              (Kernel{"map_first", {{48, 128}, {176, 4}}, std::nullopt}));
    const auto shaped = find_kernel(image, "shaped");
    ASSERT_TRUE(shaped);
    EXPECT_EQ(shaped->first->params, (std::vector<Parameter>{{0, 8}, {8, 4}, {16, 24}}));
    EXPECT_EQ(image.entries[2].kernels[2].cluster, (Extent{4, 2, 1}));
}

TEST(Images, CubinsOfBothAbisTellTheirSm) {
    for (const std::string name : {"pointers.cubin", "pointers.abi_7.cubin"}) {
        const std::string bytes = file(name);
        const Image image = read(bytes);
        EXPECT_EQ(image.container, Container::cubin);
        EXPECT_EQ(image.bytes, bytes.size()) << name;
        EXPECT_EQ(image.entries,
                  (std::vector<ImageEntry>{
                      {CodeKind::cubin, 80, declared(file("pointers.ptx"), base_sm_80)}}));
    }
}

TEST(Images, ALargeRelocatableKernelAndLto) {
    const Image image = read(file("large.fatbin"));
    ASSERT_EQ(image.entries.size(), 2U);
    EXPECT_EQ(image.entries[0], (ImageEntry{CodeKind::other, 80, {}}));
    EXPECT_EQ(image.entries[1],
              (ImageEntry{CodeKind::cubin, 80, {{"large", {{0, 8}, {8, 4800}, {4808, 2}}, {}}}}));
    EXPECT_EQ(image.entries[1].kernels[0].params_bytes(), 4810U);
}

TEST(Images, ACubinIsTheSameInEveryPacking) {
    const std::string cubin = file("pointers.cubin");
    const std::vector<ImageEntry> alone = read(cubin).entries;
    EXPECT_EQ(read(fatbin({{.payload = cubin}})).entries, alone);
    EXPECT_EQ(read(fatbin({{.payload = cubin + std::string(40, 'x')}})).entries, alone);
    EXPECT_EQ(read(fatbin({lz4(cubin)})).entries, alone);
    EXPECT_EQ(read(fatbin({})).entries, std::vector<ImageEntry>{});
    // An odd address.
    const std::string shifted = 'x' + cubin;
    EXPECT_EQ(read_image(std::as_bytes(std::span(shifted)).subspan(1)).entries, alone);
}

TEST(Images, WhatFollowsAnImageIsNotPartOfIt) {
    for (const std::string name :
         {"layouts.fatbin", "large.fatbin", "pointers.cubin", "pointers.abi_7.cubin"}) {
        const std::string bytes = file(name);
        const Image image = read(bytes);
        EXPECT_EQ(read(bytes + bytes), image) << name;
        EXPECT_EQ(read(bytes + "\xff garbage"), image) << name;
    }
    const std::string ptx = file("layouts.ptx");
    EXPECT_EQ(read(ptx).bytes, ptx.size());
    EXPECT_EQ(read(ptx + '\0' + ptx), read(ptx));
    EXPECT_EQ(read(ptx).entries, (std::vector<ImageEntry>{{CodeKind::ptx, std::nullopt, {}}}));
    EXPECT_EQ(read("/* a */ // b\n\n.version 8.0").container, Container::ptx);
}

TEST(Images, EveryImageCutShortIsRefused) {
    for (const std::string name :
         {"layouts.fatbin", "large.fatbin", "pointers.cubin", "pointers.abi_7.cubin"}) {
        const std::string bytes = file(name);
        for (std::size_t size = 0; size < bytes.size(); ++size)
            ASSERT_NE(refusal(bytes.substr(0, size)), "") << name << ", " << size << " bytes";
    }
    EXPECT_THAT(refusal(file("pointers.cubin").substr(0, 3000)),
                HasSubstr("truncated cubin: section table is"));
    EXPECT_THAT(refusal(file("layouts.fatbin").substr(0, 3000)),
                HasSubstr("truncated fatbin: its payload is 7808 bytes at 16, only 3000 bytes"));
}

TEST(Images, RefusesWhatIsNoImage) {
    EXPECT_THAT(refusal(""), HasSubstr("empty"));
    EXPECT_THAT(refusal("kernels"), HasSubstr("neither a cubin, a fatbin nor PTX"));
    EXPECT_THAT(refusal("/* .version 8.0"), HasSubstr("neither a cubin, a fatbin nor PTX"));
    EXPECT_THAT(refusal("\xb1\x43\x62\x46 wrapper"), HasSubstr("a fatbin's wrapper"));
    std::string host = file("pointers.cubin");
    put(host, offsetof(Elf64_Ehdr, e_machine), std::uint16_t{EM_X86_64});
    EXPECT_THAT(refusal(host), HasSubstr("machine 62"));
    put(host, EI_CLASS, char{ELFCLASS32});
    EXPECT_THAT(refusal(host), HasSubstr("64-bit"));
}

TEST(Images, RefusesDamagedFatbins) {
    const std::string cubin = file("pointers.cubin");
    const auto changed = [](std::string bytes, std::size_t at, auto value) {
        put(bytes, at, value);
        return refusal(bytes);
    };
    const std::string bytes = fatbin({{.kind = 1}, {.payload = cubin}});
    EXPECT_THAT(changed(bytes, 4, std::uint16_t{2}), HasSubstr("version 2"));
    EXPECT_THAT(changed(bytes, 6, std::uint16_t{15}), HasSubstr("header of 15 bytes"));
    EXPECT_THAT(changed(bytes, 8, ~std::uint64_t{0}), HasSubstr("truncated fatbin"));
    EXPECT_THAT(changed(bytes, 80 + 4, 63U), HasSubstr("entry 1: its header has 63 bytes"));
    EXPECT_THAT(changed(bytes, 80 + 4, ~0U), HasSubstr("entry 1: truncated fatbin: its header"));
    EXPECT_THAT(changed(bytes, 80 + 8, ~std::uint64_t{0}), HasSubstr("entry 1: truncated fatbin"));
    EXPECT_THAT(refusal(fatbin({{.payload = "PTX"}})), HasSubstr("entry 0: not a cubin"));

    const std::string packed = fatbin({lz4(cubin)});
    constexpr std::size_t stored = 16 + 16, flags = 16 + 40, raw = 16 + 56, code = 16 + 64;
    EXPECT_THAT(changed(packed, flags, 0U), HasSubstr("neither by zstd nor by LZ4 (flags 0x0)"));
    EXPECT_THAT(changed(packed, flags, 0x8000U), HasSubstr("do not decompress"));
    EXPECT_THAT(changed(packed, stored, ~0U), HasSubstr("compressed code"));
    EXPECT_THAT(changed(packed, raw, cubin.size() + 1), HasSubstr("do not decompress"));
    EXPECT_THAT(changed(packed, raw, cubin.size() - 1), HasSubstr("do not decompress"));
    EXPECT_THAT(changed(packed, raw, std::uint64_t{1} << 29), HasSubstr("cannot be 536870912"));
    EXPECT_THAT(changed(packed, raw, ~std::uint64_t{0}), HasSubstr("cannot be"));
    EXPECT_THAT(changed(packed, code, ~0U), HasSubstr("damaged"));
    const std::string zstd = file("layouts.fatbin");
    EXPECT_THAT(changed(zstd, raw, std::uint64_t{1} << 31), HasSubstr("cannot be"));
    EXPECT_THAT(changed(zstd, code, 0U), HasSubstr("entry 0: "));
}

TEST(Images, RefusesDamagedCubins) {
    const std::string cubin = file("pointers.cubin");
    const auto header = [&](std::size_t at, auto value) {
        std::string bytes = cubin;
        put(bytes, at, value);
        return refusal(bytes);
    };
    EXPECT_THAT(header(offsetof(Elf64_Ehdr, e_shentsize), std::uint16_t{65}),
                HasSubstr("section table has entries of 65 bytes"));
    EXPECT_THAT(header(offsetof(Elf64_Ehdr, e_shoff), ~std::uint64_t{0}), HasSubstr("truncated"));
    EXPECT_THAT(header(offsetof(Elf64_Ehdr, e_phoff), ~std::uint64_t{0}),
                HasSubstr("segment table"));
    EXPECT_THAT(header(offsetof(Elf64_Ehdr, e_shstrndx), std::uint16_t{999}),
                HasSubstr("section 999"));

    EXPECT_THAT(header(offsetof(Elf64_Ehdr, e_shnum), std::uint16_t{0}),
                HasSubstr("a section table of 0 sections"));

    // The kernel's symbol, also in place of the one before: u32 name, type, st_other, …
    const std::size_t symbol = cubin.find("\x12\x10") - 4;
    ASSERT_LT(symbol, cubin.size());
    std::string twice = cubin;
    twice.replace(symbol - sizeof(Elf64_Sym), sizeof(Elf64_Sym), cubin, symbol, sizeof(Elf64_Sym));
    EXPECT_THAT(refusal(twice), HasSubstr("kernel pointers twice"));
    EXPECT_THAT(header(symbol, ~0U), HasSubstr("a name is at 4294967295 of"));

    // The record of parameter 1: format, attribute, size; index, ordinal, offset, flags.
    const std::string record{"\x04\x17\x0c\0\0\0\0\0\x01\0", 10};
    const std::size_t at = cubin.find(record);
    ASSERT_NE(at, std::string::npos);
    EXPECT_THAT(header(at + 8, std::uint16_t{2}),
                HasSubstr("kernel pointers: parameter 1 is missing"));
    EXPECT_THAT(header(at + 8, std::uint16_t{0}),
                HasSubstr("kernel pointers: parameter 0 is given twice"));
    EXPECT_THAT(header(at, std::uint8_t{9}), HasSubstr("record of format 9"));
    EXPECT_THAT(header(at + 2, std::uint16_t{40000}), HasSubstr("truncated section: a record"));
    // Formats 1 to 3 have no payload; an attribute of no interest is passed over.
    EXPECT_THAT(header(at + 1, std::uint8_t{0xee}), HasSubstr("parameter 1 is missing"));
}

TEST(Images, FindsAKernelInAllItsCubins) {
    const Image image = read(file("layouts.fatbin"));
    const auto map_first = find_kernel(image, "map_first");
    ASSERT_TRUE(map_first);
    EXPECT_EQ(map_first->first, &image.entries[0].kernels[3]);
    EXPECT_EQ(map_first->first->params_bytes(), 164U);
    EXPECT_EQ(map_first->least_params_bytes, 132U);  // of sm_100
    const auto clustered = find_kernel(image, "clustered");
    ASSERT_TRUE(clustered);  // not in the first cubin
    EXPECT_EQ(clustered->least_params_bytes, 8U);
    EXPECT_EQ(find_kernel(image, "no_params")->least_params_bytes, 0U);
    EXPECT_FALSE(find_kernel(image, "_Z9no_kernelfi"));
    EXPECT_TRUE(knows_kernels(image));
    EXPECT_FALSE(knows_kernels(read(file("layouts.ptx"))));
    EXPECT_FALSE(knows_kernels(read(fatbin({{.kind = 1}, {.kind = 8}}))));
}

TEST(Images, Output) {
    const Image image{
        .container = Container::fatbin,
        .bytes = 100,
        .entries = {{CodeKind::ptx, 90, {}},
                    {CodeKind::cubin, 90, {{"k", {{0, 8}, {16, 24}}, Extent{2, 1, 1}}}}}};
    EXPECT_EQ(to_json(image).dump(),
              R"({"container":"fatbin","bytes":100,"entries":[{"kind":"ptx","sm":90,"kernels":[]},)"
              R"({"kind":"cubin","sm":90,"kernels":[{"name":"k","params":[[0,8],[16,24]],)"
              R"("cluster":[2,1,1]}]}]})");
    EXPECT_EQ(
        to_json(read(file("pointers.ptx"))).dump(),
        R"({"container":"ptx","bytes":302,"entries":[{"kind":"ptx","sm":null,"kernels":[]}]})");
    EXPECT_EQ(to_json(read(file("pointers.cubin"))).dump(),
              R"({"container":"cubin","bytes":3240,"entries":[{"kind":"cubin","sm":80,"kernels":)"
              R"([{"name":"pointers","params":[[0,4],[8,8],[32,128],[160,8]],"cluster":null}]}]})");
    EXPECT_EQ(to_text(image, 80),
              "fatbin, 100 bytes\n\n"
              "entry  kind   SM  kernel  params  bytes  cluster\n"
              "─────  ─────  ──  ──────  ──────  ─────  ───────\n"
              "    0  ptx    90\n"
              "    1  cubin  90  k            2     40  2x1x1\n");
    EXPECT_THAT(to_text(read(file("pointers.ptx")), 80), HasSubstr("when it is compiled"));
}

}  // namespace
}  // namespace assay::foundry
