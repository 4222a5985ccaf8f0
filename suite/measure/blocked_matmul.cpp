// c += a · b in blocks: a block of b's columns stays in the first cache, a block of a in the
// second, a tile of c in registers. Both are packed, so that the innermost loop reads memory in
// order.
//
// Compiled once for each set of vector instructions and chosen by asking the processor. The choice
// is a plain branch: target_clones would put it into the dynamic loader, where sanitizers break.
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "suite/measure/machine_probe.hpp"

namespace assay::measure {
namespace {

constexpr int depth = 128;  // of a packed block: 128 × 48 floats are 24 KiB

/// Rows × (Vectors · Lanes) is the tile of c that is kept in registers.
template <int Lanes_, int Vectors_, int Rows_>
struct Tile {
    static constexpr int Lanes = Lanes_, Vectors = Vectors_, Rows = Rows_;
    static constexpr int Columns = Lanes * Vectors;
    typedef float Vector __attribute__((vector_size(Lanes_ * sizeof(float))));
    static_assert(blocked_matmul_step % Columns == 0 && blocked_matmul_step % Rows == 0);
};

/// One tile: c[Rows][Columns] += a[k][Rows]ᵀ · b[k][Columns], both packed.
template <class T>
[[gnu::always_inline]] inline void multiply_tile(const float* a, const float* b, float* c,
                                                 int row_length, int k) {
    using Vector = typename T::Vector;
    Vector sums[T::Rows][T::Vectors] = {};
    for (int step = 0; step < k; ++step, a += T::Rows, b += T::Columns) {
        Vector columns[T::Vectors];
        std::memcpy(columns, b, sizeof columns);
#pragma GCC unroll 16
        for (int row = 0; row < T::Rows; ++row)
#pragma GCC unroll 4
            for (int v = 0; v < T::Vectors; ++v) sums[row][v] += a[row] * columns[v];
    }
#pragma GCC unroll 16
    for (int row = 0; row < T::Rows; ++row) {
        float* to = c + static_cast<long>(row) * row_length;
        Vector old[T::Vectors];
        std::memcpy(old, to, sizeof old);
#pragma GCC unroll 4
        for (int v = 0; v < T::Vectors; ++v) old[v] += sums[row][v];
        std::memcpy(to, old, sizeof old);
    }
}

template <class T>
[[gnu::always_inline]] inline void multiply(const float* a, const float* b, float* c, int n,
                                            float* packed_a, float* packed_b) {
    for (int k0 = 0; k0 < n; k0 += depth) {
        const int k = n - k0 < depth ? n - k0 : depth;
        for (int i = 0; i < n; ++i)  // panels of Rows rows, column after column
            for (int step = 0; step < k; ++step)
                packed_a[(i / T::Rows * k + step) * T::Rows + i % T::Rows] =
                    a[static_cast<long>(i) * n + k0 + step];
        for (int j = 0; j < n; j += T::Columns) {
            for (int step = 0; step < k; ++step)
                std::memcpy(packed_b + step * T::Columns, b + static_cast<long>(k0 + step) * n + j,
                            T::Columns * sizeof(float));
            for (int i = 0; i < n; i += T::Rows)
                multiply_tile<T>(packed_a + i * k, packed_b, c + static_cast<long>(i) * n + j, n,
                                 k);
        }
    }
}

using Multiply = void (*)(const float*, const float*, float*, int, float*, float*);

void with_baseline(const float* a, const float* b, float* c, int n, float* pa, float* pb) {
    multiply<Tile<4, 2, 4>>(a, b, c, n, pa, pb);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void with_avx2(const float* a, const float* b, float* c, int n,
                                           float* pa, float* pb) {
    multiply<Tile<8, 2, 6>>(a, b, c, n, pa, pb);
}
[[gnu::target("avx512f,avx512vl,fma")]] void with_avx512(const float* a, const float* b, float* c,
                                                         int n, float* pa, float* pb) {
    multiply<Tile<16, 3, 8>>(a, b, c, n, pa, pb);
}
#endif

struct Choice {
    Multiply multiply;
    std::string_view vectors;
};

Choice chosen() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return {with_avx512, "AVX-512"};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return {with_avx2, "AVX2 and FMA"};
#endif
    return {with_baseline, "baseline vectors"};
}

}  // namespace

void blocked_matmul(const float* a, const float* b, float* c, int n) {
    if (n <= 0 || n % blocked_matmul_step != 0)
        throw std::invalid_argument("matrices of " + std::to_string(n) + " rows");
    static const Choice choice = chosen();
    thread_local std::vector<float> packed_a, packed_b(depth * blocked_matmul_step);
    packed_a.resize(static_cast<std::size_t>(n) * depth);
    choice.multiply(a, b, c, n, packed_a.data(), packed_b.data());
}

std::string_view blocked_matmul_vectors() { return chosen().vectors; }

}  // namespace assay::measure
