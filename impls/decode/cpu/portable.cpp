// The loops in plain C++, lane by lane: for processors without AVX2.
#include <cmath>
#include <cstring>

#include "impls/decode/cpu/loop_bodies.hpp"
#include "impls/decode/cpu/tile_bodies.hpp"
#include "impls/nn/files/stored_tensor.hpp"
#include "kernels/cpu/element_types.hpp"

namespace assay::decode {
namespace {

struct Portable {
    struct Floats {
        float of[lanes];
    };
    struct Ints {
        std::int32_t of[lanes];
    };
    struct Quants {
        std::uint8_t of[4 * lanes];
    };

    template <class Result, class Each>
    static Result each(const Each& value) {
        Result result;
        for (int i = 0; i < lanes; ++i) result.of[i] = value(i);
        return result;
    }
    /// Tokens that rows of floats are multiplied with at a time.
    static constexpr int floats_together = 1;

    static Floats no_floats() { return {}; }
    static Floats load(const float* from) {
        Floats v;
        std::memcpy(v.of, from, sizeof v.of);
        return v;
    }
    static void store(float* to, const Floats& v) { std::memcpy(to, v.of, sizeof v.of); }
    static Floats broadcast(float a) {
        return each<Floats>([&](int) { return a; });
    }
    static Floats plus(const Floats& a, const Floats& b) {
        return each<Floats>([&](int i) { return a.of[i] + b.of[i]; });
    }
    static Floats minus(const Floats& a, const Floats& b) {
        return each<Floats>([&](int i) { return a.of[i] - b.of[i]; });
    }
    static Floats times(const Floats& a, const Floats& b) {
        return each<Floats>([&](int i) { return a.of[i] * b.of[i]; });
    }
    static Floats over(const Floats& a, const Floats& b) {
        return each<Floats>([&](int i) { return a.of[i] / b.of[i]; });
    }
    static Floats fused(const Floats& a, const Floats& b, const Floats& c) {
        return each<Floats>([&](int i) { return rounded_once(a.of[i], b.of[i], c.of[i]); });
    }
    /// The second where either is NaN.
    static Floats largest_of(const Floats& a, const Floats& b) {
        return each<Floats>([&](int i) { return a.of[i] > b.of[i] ? a.of[i] : b.of[i]; });
    }
    static Floats smallest_of(const Floats& a, const Floats& b) {
        return each<Floats>([&](int i) { return a.of[i] < b.of[i] ? a.of[i] : b.of[i]; });
    }
    static Floats magnitude(const Floats& a) {
        return each<Floats>([&](int i) { return std::fabs(a.of[i]); });
    }
    static float largest(Floats a) {
        for (int step = lanes / 2; step > 0; step /= 2)
            for (int i = 0; i < step; ++i)
                a.of[i] = a.of[i] > a.of[i + step] ? a.of[i] : a.of[i + step];
        return a.of[0];
    }
    static float sum(Floats a) {
        for (int step = lanes / 2; step > 0; step /= 2)
            for (int i = 0; i < step; ++i) a.of[i] += a.of[i + step];
        return a.of[0];
    }
    static bool any_nan(const Floats& a) {
        bool any = false;
        for (const float x : a.of) any |= x != x;
        return any;
    }
    static Floats zero_where_less(const Floats& a, const Floats& than, const Floats& v) {
        return each<Floats>([&](int i) { return a.of[i] < than.of[i] ? 0.0f : v.of[i]; });
    }
    static Floats times_power_of_two(const Floats& a, const Ints& n) {
        return each<Floats>([&](int i) {
            return a.of[i] * float_of((static_cast<std::uint32_t>(n.of[i]) + 127u) << 23);
        });
    }
    static void pairs_of_bf16(const std::byte* from, Floats& first, Floats& second) {
        first = each<Floats>([&](int i) { return float_of(half_at(from + 4 * i) << 16); });
        second = each<Floats>([&](int i) { return float_of(half_at(from + 4 * i + 2) << 16); });
    }
    /// Rounded to nearest, to even; a NaN stays one.
    static void store_bf16(std::uint16_t* to, const Floats& a) {
        for (int i = 0; i < lanes; ++i) to[i] = nn::to_bfloat16(a.of[i]);
    }
    static Floats from_halves(const std::byte* from) {
        return each<Floats>([&](int i) { return kernels::half_values[half_at(from + 2 * i)]; });
    }

    static Ints no_ints() { return {}; }
    static Ints broadcast(int a) {
        return each<Ints>([&](int) { return a; });
    }
    static Ints plus(const Ints& a, const Ints& b) {
        return each<Ints>([&](int i) { return a.of[i] + b.of[i]; });
    }
    static Ints minus(const Ints& a, const Ints& b) {
        return each<Ints>([&](int i) { return a.of[i] - b.of[i]; });
    }
    static Ints times_256(const Ints& a) {
        return each<Ints>([&](int i) { return a.of[i] * 256; });
    }
    static Ints over_256(const Ints& a) {
        return each<Ints>([&](int i) { return a.of[i] >> 8; });
    }
    static Ints signed_low_byte(const Ints& a) {
        return each<Ints>([&](int i) { return static_cast<std::int8_t>(a.of[i]); });
    }
    static int sum(const Ints& a) {
        int all = 0;
        for (const int x : a.of) all += x;
        return all;
    }
    /// To the nearest, ties to even; what is no 32-bit number becomes the least one.
    static Ints rounded(const Floats& a) {
        return each<Ints>([&](int i) {
            constexpr float beyond = 2147483648.0f;
            const bool fits = a.of[i] >= -beyond && a.of[i] < beyond;
            return fits ? static_cast<std::int32_t>(std::lrint(a.of[i])) : INT32_MIN;
        });
    }
    static Floats to_floats(const Ints& a) {
        return each<Floats>([&](int i) { return static_cast<float>(a.of[i]); });
    }
    static void store_bytes(std::int8_t* to, const Ints& a) {
        for (int i = 0; i < lanes; ++i) to[i] = static_cast<std::int8_t>(a.of[i]);
    }

    static Quants shifted_bytes(const std::byte* from) {
        Quants q;
        for (int i = 0; i < 4 * lanes; ++i)
            q.of[i] = static_cast<std::uint8_t>(static_cast<unsigned>(from[i]) ^ 0x80u);
        return q;
    }
    static void halves_of_bytes(const std::byte* from, Quants& low, Quants& high) {
        for (int i = 0; i < 4 * lanes; ++i) {
            low.of[i] = static_cast<std::uint8_t>(static_cast<unsigned>(from[i]) & 15u);
            high.of[i] = static_cast<std::uint8_t>(static_cast<unsigned>(from[i]) >> 4);
        }
    }
    static void store_quants(std::uint8_t* to, const Quants& q) {
        std::memcpy(to, q.of, sizeof q.of);
    }
    static Ints load_ints(const std::int32_t* from) {
        Ints v;
        std::memcpy(v.of, from, sizeof v.of);
        return v;
    }
    template <bool of_four_bits>
    static Ints dot(const Ints& sum, const Quants& quants, const std::int8_t* digits) {
        return each<Ints>([&](int i) {
            int all = sum.of[i];
            for (int c = 0; c < 4; ++c) all += quants.of[4 * i + c] * digits[c];
            return all;
        });
    }

  private:
    /// a · b + c. Without an instruction for it, std::fma takes a hundred nanoseconds: the product
    /// is exact in double, and the sum, rounded there to the odd one of its two neighbours, rounds
    /// to float as the exact sum does (Boldo and Melquiond, IEEE Transactions on Computers 57(4),
    /// 2008).
    static float rounded_once(float a, float b, float c) {
#ifdef FP_FAST_FMAF
        return std::fma(a, b, c);
#else
        const double product = static_cast<double>(a) * static_cast<double>(b), other = c;
        const double sum = product + other, added = sum - product;
        const double lost = (product - (sum - added)) + (other - added);
        std::uint64_t bits;
        std::memcpy(&bits, &sum, sizeof bits);
        if ((lost > 0 || lost < 0) && bits % 2 == 0) (lost > 0) == (sum > 0) ? ++bits : --bits;
        double odd;
        std::memcpy(&odd, &bits, sizeof odd);
        return static_cast<float>(odd);
#endif
    }
    static std::uint32_t half_at(const std::byte* from) {
        std::uint16_t bits;
        std::memcpy(&bits, from, sizeof bits);
        return bits;
    }
    static float float_of(std::uint32_t bits) {
        float f;
        std::memcpy(&f, &bits, sizeof f);
        return f;
    }
};

}  // namespace

extern const Loops portable_loops, emulated_tile_loops;
const Loops portable_loops = loops_of<Portable>("portable");
const Loops emulated_tile_loops = with_tiles<Portable, EmulatedTiles>("emulated-amx");

}  // namespace assay::decode
