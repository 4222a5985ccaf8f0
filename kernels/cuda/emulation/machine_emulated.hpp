// machine.hpp for a host compiler: what machine_cuda.hpp describes, emulated. Accesses that a GPU
// would refuse (unaligned ones) throw.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "kernels/cpu/element_types.hpp"
#include "kernels/cuda/emulation/emulator.hpp"

#define ASSAY_DEVICE inline
#define ASSAY_KERNEL(threads, blocks) inline void
#define ASSAY_PARAMETER const

namespace assay::kernels::cuda {

using Place = Emulator::At;
inline int thread_index() { return Emulator::running().thread_index(); }
inline Place block_index() { return Emulator::running().block_index(); }
inline Place blocks_in_grid() { return Emulator::running().blocks(); }
inline void block_barrier() { Emulator::running().barrier(); }
inline int block_count(bool condition) { return Emulator::running().block_count(condition); }
template <int count>
void warp_sum(float (&values)[count]) {
    Emulator::running().warp_sum(values, count);
}
inline std::uint32_t warp_sum(std::uint32_t value) {
    std::uint32_t all[lanes], sum = 0;
    Emulator::running().warp_gather(&value, 1, all);
    for (const std::uint32_t each : all) sum += each;
    return sum;
}
inline std::uint32_t warp_ballot(bool condition) {
    return Emulator::running().warp_ballot(condition);
}
inline float upper_half(std::uint32_t word) { return std::bit_cast<float>(word & 0xffff0000u); }
inline void multiply_tile(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                          std::uint32_t b1) {
    constexpr int words = 6;
    const std::uint32_t mine[words] = {a[0], a[1], a[2], a[3], b0, b1};
    std::uint32_t all[lanes][words];
    Emulator::running().warp_gather(mine, words, all[0]);
    const auto number = [&](int lane, int word, int half) {
        return upper_half(half == 0 ? all[lane][word] << 16 : all[lane][word]);
    };
    const int lane = thread_index() % lanes;
    for (int v = 0; v < 4; ++v)
        for (int k = 0; k < 16; ++k) {
            const int holder = k % 8 / 2, column = lane % 4 * 2 + v % 2;
            sums[v] += number(lane / 4 * 4 + holder, k / 8 * 2 + v / 2, k % 2) *
                       number(column * 4 + holder, 4 + k / 8, k % 2);
        }
}
/// `across`: lane 4g + q gets column g, lines 2q and 2q + 1.
inline void load_matrices(const void* line, std::uint32_t (&words)[4], bool across) {
    const auto address = reinterpret_cast<std::uintptr_t>(line);
    if (address % 16 != 0) throw std::logic_error("a line of a matrix is not aligned");
    const std::uint32_t mine[2] = {static_cast<std::uint32_t>(address),
                                   static_cast<std::uint32_t>(address >> 32)};
    std::uint32_t all[lanes][2];
    Emulator::running().warp_gather(mine, 2, all[0]);
    const int g = thread_index() % lanes / 4, q = thread_index() % lanes % 4;
    for (int matrix = 0; matrix < 4; ++matrix) {
        const auto number = [&](int row, int column) {
            const auto& of = all[8 * matrix + row];
            const auto from =
                static_cast<std::uintptr_t>(of[0]) | static_cast<std::uintptr_t>(of[1]) << 32;
            std::uint16_t bits;
            std::memcpy(&bits, reinterpret_cast<const std::byte*>(from) + 2 * column, sizeof bits);
            return static_cast<std::uint32_t>(bits);
        };
        words[matrix] = across ? number(2 * q, g) | number(2 * q + 1, g) << 16
                               : number(g, 2 * q) | number(g, 2 * q + 1) << 16;
    }
}
inline void load_matrices(const void* line, std::uint32_t (&words)[4]) {
    load_matrices(line, words, false);
}
inline void load_matrices_across(const void* line, std::uint32_t (&words)[4]) {
    load_matrices(line, words, true);
}
inline void copy_piece(void* to, const void* from, bool there) {
    if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0 ||
        reinterpret_cast<std::uintptr_t>(from) % 16 != 0)
        throw std::logic_error("a copy of 16 bytes is not aligned");
    Emulator::running().copy_later(to, there ? from : nullptr, 16);
}
inline void end_of_copies() { Emulator::running().end_of_copies(); }
template <int groups>
void wait_for_copies() {
    Emulator::running().wait_for_copies(groups);
}
inline void show_copies() {}
inline void wait_for_products(float (&)[16][4]) { Emulator::running().wait_for_work(); }
/// Of a device's way of finding operands, only what places depend on: bits of the address.
template <bool terms_are_lines>
void multiply_together(float (&sums)[16][4], const std::uint16_t* a, const std::uint16_t* b) {
    constexpr int line_bytes = 128, number_bytes = 2;
    const auto* const memory =
        reinterpret_cast<const std::byte*>(Emulator::running().block_memory());
    const auto number = [memory](const std::uint16_t* operand, int of, int term) {
        const auto at = reinterpret_cast<const std::byte*>(operand) - memory;
        const std::ptrdiff_t plain =
            at + (terms_are_lines ? (of / 64 * 64 + term) * line_bytes + of % 64 * number_bytes
                                  : of * line_bytes + term * number_bytes);
        const std::ptrdiff_t crosswise = plain ^ (plain / line_bytes % 8 * 16);
        std::uint16_t bits;
        std::memcpy(&bits, memory + crosswise, sizeof bits);
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    };
    const int lane = thread_index() % lanes, warp = thread_index() / lanes % 4;
    Emulator::running().work_later([&sums, a, b, number, lane, warp] {
        for (int j = 0; j < 16; ++j)
            for (int v = 0; v < 4; ++v)
                for (int term = 0; term < 64; ++term)
                    sums[j][v] += number(a, 16 * warp + lane / 4 + v / 2 * 8, term) *
                                  number(b, 8 * j + lane % 4 * 2 + v % 2, term);
    });
}
inline int bits_set(std::uint32_t bits) { return std::popcount(bits); }
inline float* block_memory() { return Emulator::running().block_memory(); }

template <class Wide>
Wide load_aligned(const void* from) {
    if (reinterpret_cast<std::uintptr_t>(from) % sizeof(Wide) != 0)
        throw std::logic_error("an access of 16 bytes is not aligned");
    Wide wide;
    std::memcpy(&wide, from, sizeof wide);
    return wide;
}
inline Words4 load_once(const void* from) { return load_aligned<Words4>(from); }
inline Words4 load_past_cache(const void* from) { return load_aligned<Words4>(from); }
inline void store(void* to, const Words4& words) {
    static_cast<void>(load_aligned<Words4>(to));
    std::memcpy(to, &words, sizeof words);
}
inline Words4 load_words(const void* from) { return load_aligned<Words4>(from); }
inline Floats4 load_floats4(const float* from) { return load_aligned<Floats4>(from); }
inline float load_of_other_block(const float* from) { return *from; }
inline std::uint8_t load_of_other_block(const std::uint8_t* from) { return *from; }
inline int load_of_other_block(const int* from) { return *from; }
inline std::uint16_t load_of_other_block(const std::uint16_t* from) { return *from; }
inline std::uint32_t load_of_other_block(const std::uint32_t* from) { return *from; }
inline int count_one(int* counter) { return (*counter)++; }
inline int take_one(int* counter) { return (*counter)++; }
inline void keep_order() {}
inline void wait_for_count(const int* counter, int least) {
    while (*counter < least) Emulator::running().let_others();
}
inline void wait_for_previous_kernel() { Emulator::running().end_kernel_before(); }
inline void allow_next_kernel() {}
/// Reads, so that a memory checker sees an address outside.
inline void prefetch(const void* from) {
    static_cast<void>(*static_cast<const volatile std::byte*>(from));
}
inline float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline std::uint32_t to_bits(float value) { return std::bit_cast<std::uint32_t>(value); }
inline float from_half_bits(std::uint32_t bits) { return half_values[bits & 0xffffu]; }

}  // namespace assay::kernels::cuda
