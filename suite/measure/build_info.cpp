// Turns what CMake found into sentences for `assay doctor` and `assay --version`.
#include "suite/measure/build_info.hpp"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "build_config.hpp"

namespace assay::measure {

extern const char* const built_from_commit;

namespace {

using State = BuildPart::State;

BuildPart part(std::string name, bool found, bool used, const char* brings, const char* unused,
               const char* absent) {
    const State state = !found ? State::absent : used ? State::built_in : State::unused;
    return {std::move(name), state,
            state == State::built_in ? brings
            : state == State::unused ? unused
                                     : absent};
}

}  // namespace

BuildInfo build_info() {
    BuildInfo info;
    info.version = ASSAY_VERSION;
    info.commit = built_from_commit;
    info.compiler = ASSAY_COMPILER;
    info.build_type = ASSAY_BUILD_TYPE;
    info.flags = ASSAY_BUILD_FLAGS;
    info.torch = ASSAY_TORCH_VERSION;
    info.parts = {
        part("torch", ASSAY_HAVE_TORCH, true,
             "libtorch " ASSAY_TORCH_VERSION ": live training and every tensor method.", "",
             "Without libtorch live training is left out; exact and simulated experiments remain. "
             "scripts/dependencies fetches it; then configure again."),
        part("gloo", ASSAY_HAVE_TORCH && ASSAY_HAVE_GLOO, true,
             "Gloo collectives between processes, through libtorch.", "",
             "Without libtorch or Gloo's headers processes cannot train together. Install "
             "libgloo-dev, run scripts/dependencies, then configure again."),
        part(
            "benchmark", ASSAY_HAVE_BENCHMARK, true, "Google Benchmark: the micro-benchmarks.", "",
            "Without Google Benchmark the micro-benchmarks are left out. Install libbenchmark-dev, "
            "then configure again."),
        part("cuda", ASSAY_HAVE_NVCC, ASSAY_USES_NVCC, "CUDA kernels, as plug-ins.",
             "nvcc was found, but this version has no CUDA kernels yet.",
             "Without nvcc no CUDA kernel is built; nothing else depends on it."),
        part("simgrid", ASSAY_HAVE_SIMGRID, ASSAY_USES_SIMGRID,
             "SimGrid: networks of many ranks, simulated as flows.", "",
             "Without SimGrid collectives are priced in closed form only. scripts/dependencies "
             "fetches it; then configure again."),
        part("qt", ASSAY_HAVE_QT, ASSAY_USES_QT, "Qt: the desktop window, assay-gui.", "",
             "Without Qt there is no desktop window. Install qt6-base-dev, then configure "
             "again."),
    };
    return info;
}

// Reads the build id that the linker left in the notes of the running program, or of a file.

namespace {

constexpr std::size_t note_alignment = 4;
constexpr std::size_t most_note_bytes = 64 << 10;

std::size_t aligned(std::size_t bytes) {
    return (bytes + note_alignment - 1) / note_alignment * note_alignment;
}

/// The build id within one note segment, in hex, or empty.
std::string find_build_id(const unsigned char* at, std::size_t bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    const unsigned char* end = at + bytes;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        ElfW(Nhdr) header;
        std::memcpy(&header, at, sizeof header);
        const unsigned char* name = at + sizeof header;
        const unsigned char* content = name + aligned(header.n_namesz);
        if (content + header.n_descsz > end) return {};
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof ELF_NOTE_GNU &&
            std::memcmp(name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
            std::string hex;
            for (std::size_t i = 0; i < header.n_descsz; ++i) {
                hex += digits[content[i] >> 4];
                hex += digits[content[i] & 15];
            }
            return hex;
        }
        at = content + aligned(header.n_descsz);
    }
    return {};
}

/// The loader lists the program itself first; the value 1 ends the walk there.
int visit_program(dl_phdr_info* info, std::size_t, void* result) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_NOTE) continue;
        const auto* notes =
            reinterpret_cast<const unsigned char*>(info->dlpi_addr + segment.p_vaddr);
        auto& found = *static_cast<std::string*>(result);
        found = find_build_id(notes, segment.p_memsz);
        if (!found.empty()) break;
    }
    return 1;
}

}  // namespace

std::string build_id() {
    static const std::string id = [] {
        std::string found;
        dl_iterate_phdr(visit_program, &found);
        return found;
    }();
    if (id.empty())
        throw std::runtime_error(
            "this program carries no build id; link it with -Wl,--build-id=sha1");
    return id;
}

std::string build_id_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    const auto read = [&](auto offset, void* to, std::size_t bytes) {
        in.seekg(static_cast<std::streamoff>(offset));
        in.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
        return in.good();
    };
    ElfW(Ehdr) header;
    if (!read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phentsize != sizeof(ElfW(Phdr)))
        return {};
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) segment;
        if (!read(header.e_phoff + i * sizeof segment, &segment, sizeof segment)) return {};
        if (segment.p_type != PT_NOTE || segment.p_filesz > most_note_bytes) continue;
        std::vector<unsigned char> notes(segment.p_filesz);
        if (!read(segment.p_offset, notes.data(), notes.size())) return {};
        if (std::string found = find_build_id(notes.data(), notes.size()); !found.empty())
            return found;
    }
    return {};
}

}  // namespace assay::measure
