// The innermost loops with plain C++: a plain read, rows of weights times tokens, neurons' rows
// added to the output.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/stored_weights.hpp"
#include "kernels/gemv/dot_rows.hpp"
#include "kernels/sparse_ffn/add_rows.hpp"

namespace assay::kernels {

/// 4 floats, by the compiler's vector extension: for processors without AVX2.
struct Portable {
    static constexpr int lanes = 4;
    static constexpr int tokens_together = 1;  ///< 8 sums in 16 registers
    typedef float Vector __attribute__((vector_size(16)));
    typedef std::uint32_t Words __attribute__((vector_size(16)));

    static Vector zero() { return Vector{}; }
    static Vector load(const float* from) {
        Vector v{};
        std::memcpy(&v, from, sizeof v);
        return v;
    }
    static void store(float* to, Vector v) { std::memcpy(to, &v, sizeof v); }
    static Vector broadcast(float a) { return Vector{} + a; }
    static Vector multiply_add(Vector a, Vector b, Vector c) { return a * b + c; }
    static Vector add(Vector a, Vector b) { return a + b; }
    static float sum(Vector v) { return (v[0] + v[2]) + (v[1] + v[3]); }

    static Vector from_f32(const std::byte* from) {
        Vector v{};
        std::memcpy(&v, from, sizeof v);
        return v;
    }
    static Vector from_f16(const std::byte* from) {
        std::uint16_t bits[lanes];
        std::memcpy(bits, from, sizeof bits);
        Vector v{};
        for (int i = 0; i < lanes; ++i) v[i] = half_values[bits[i]];
        return v;
    }
    static Vector from_bf16(const std::byte* from) {
        std::uint16_t bits[lanes];
        std::memcpy(bits, from, sizeof bits);
        Vector v{};
        for (int i = 0; i < lanes; ++i) v[i] = as_float(static_cast<std::uint32_t>(bits[i]) << 16);
        return v;
    }

    static void from_q8_0(const std::byte* block, Vector* out) {
        const float scale = half_at(block);
        std::int8_t q[32];
        std::memcpy(q, block + 2, sizeof q);
        for (int i = 0; i < 32; ++i) out[i / lanes][i % lanes] = scale * static_cast<float>(q[i]);
    }
    static void from_q4_0(const std::byte* block, Vector* out) {
        const float scale = half_at(block);
        nibbles(block + 2, [&](int i, int q) {
            out[i / lanes][i % lanes] = scale * static_cast<float>(q - 8);
        });
    }
    static void from_q4_1(const std::byte* block, Vector* out) {
        const float scale = half_at(block), minimum = half_at(block + 2);
        nibbles(block + 4, [&](int i, int q) {
            out[i / lanes][i % lanes] = scale * static_cast<float>(q) + minimum;
        });
    }

  private:
    static float as_float(std::uint32_t bits) {
        float f;
        std::memcpy(&f, &bits, sizeof f);
        return f;
    }
    static float half_at(const std::byte* from) {
        std::uint16_t bits;
        std::memcpy(&bits, from, sizeof bits);
        return half_values[bits];
    }
    /// The low nibbles of the 16 bytes are the weights 0 … 15, the high ones 16 … 31.
    template <class Take>
    static void nibbles(const std::byte* from, Take take) {
        for (int i = 0; i < 16; ++i) {
            const auto byte = static_cast<unsigned>(from[i]);
            take(i, static_cast<int>(byte & 15u));
            take(i + 16, static_cast<int>(byte >> 4));
        }
    }
};

std::uint32_t portable_read_stream(const std::byte* from, std::size_t bytes) {
    return read_stream<Portable>(from, bytes);
}

const DotRowsTable portable_dot_rows = dot_rows_table<Portable>();

const AddRowsTable portable_add_rows = add_rows_table<Portable>();

}  // namespace assay::kernels
