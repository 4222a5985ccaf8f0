// The innermost loops of decoding, once for each set of vector instructions: rows of weights times
// tokens, attention over a segment, the softmax's sums.
//
// Every set gives the same bits, with weights of every type: vectors are sixteen lanes wide
// everywhere (made of smaller ones where the processor has no such), sums have one order, products
// and sums are fused everywhere or nowhere, and what int8 dot products add up are whole numbers.
// The bits of a token do not depend on how many others are computed beside it.
//
// Two things lie outside: networks that leave out neurons (impls/decode/networks), whose sums are
// those of the kernels, in another order with each set; and angles of rotation, GELU, exponentials
// between segments and picking, which are the C library's, the same while that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "impls/decode/weights/interleaved.hpp"
#include "kernels/assay_kernels.h"

namespace assay::decode {

constexpr int digit_block = 32;  ///< columns, as of a quantised block

/// A block of activations as whole numbers for int8 dot products: x ≈ scale · whole, where whole =
/// 65536·digits[0] + 256·digits[1] + digits[2], or digits[0] alone. Three digits are exact to 2^-24
/// of the block's largest, what fp32 arithmetic keeps; one digit to 2^-8.
template <int count>
struct alignas(64) DigitBlock {
    std::int8_t digits[count][digit_block];
    std::int32_t digit_sums[count];  ///< over the block
    float scale;                     ///< NaN where an activation is not finite
    float sum;                       ///< of the block's activations
};
using ExactBlock = DigitBlock<3>;
using Int8Block = DigitBlock<1>;

/// How keys and values are kept.
enum class KvType { f32, bf16 };
constexpr std::size_t bytes_of(KvType type) { return type == KvType::f32 ? 4 : 2; }

constexpr int lanes = 16;
/// Floats of a row of values: whole vectors.
constexpr int padded(int head_width) { return (head_width + lanes - 1) / lanes * lanes; }

/// Where a head's keys and values lie in a block of sixteen positions. f32: keys are [head
/// width][16], values behind them [16][padded head width]. bf16: so, too, but of two neighbouring
/// rows the elements stand in turns, since loops unpack two vectors out of one of 64 bytes.
class KvLayout {
  public:
    constexpr KvLayout(KvType type, int head_width)
        : odd_(type == KvType::f32 ? 0 : 1),
          row_(padded(head_width)),
          keys_(lanes * ((head_width + odd_) & ~odd_)) {}

    /// Elements: of all keys, before the values; of both.
    constexpr int keys() const { return keys_; }
    constexpr int elements() const { return keys_ + lanes * row_; }
    constexpr int key(int i, int position) const { return at(i, position, lanes); }
    constexpr int value(int position, int i) const { return keys_ + at(position, i, row_); }

  private:
    constexpr int at(int row, int column, int columns) const {
        return (row & ~odd_) * columns + (column << odd_) + (row & odd_);
    }
    int odd_;  // bits of a row's number that say which of those in turns it is
    int row_, keys_;
};

/// Some query heads over consecutive blocks of sixteen positions.
struct Segment {
    KvType type;
    int head_width;
    int positions;  ///< of the blocks' the last may be filled in part
    int heads;
    const float* query;              ///< [heads][head width]
    const std::byte* const* blocks;  ///< each as KvLayout says
    float* most;                     ///< [heads]: the largest score
    float* sums;                     ///< [heads]: of exp(score − most)
    float* mixed;  ///< [heads][padded head width]: sum of exp(score − most) · value
};
constexpr int segment_blocks = 16, segment_positions = segment_blocks * lanes;

/// Of some logits.
struct SoftmaxPart {
    float most;
    double sum;   ///< of exp((logit − most) · sharpness)
    bool is_nan;  ///< one of them
};

struct Loops {
    const char* name;
    /// x: [columns], a multiple of 32. Block b goes to out[b · stride].
    void (*exact)(const float* x, int columns, ExactBlock* out, int stride);
    void (*int8)(const float* x, int columns, Int8Block* out, int stride);
    /// Sixteen rows (one interleaved group) times `tokens` tokens: y[t·stride + r]. Block b of
    /// token t: x[b·tokens + t]. A group is unpacked once.
    void (*multiply_exact)(AssayType type, const std::byte* group, int columns, const ExactBlock* x,
                           int tokens, float* y, int stride);
    void (*multiply_int8)(AssayType type, const std::byte* group, int columns, const Int8Block* x,
                          int tokens, float* y, int stride);
    /// The same for rows of f32, f16 or bf16; x: [tokens] rows of floats. Arithmetic in fp32.
    void (*multiply_floats)(AssayType type, const std::byte* group, int columns,
                            const float* const* x, int tokens, float* y, int stride);
    void (*attend)(const Segment& segment);
    /// Keys and values of one position, [head width] each, to where they lie in a head's block
    /// (KvLayout).
    void (*put)(KvType type, int head_width, int position, const float* key, const float* value,
                std::byte* block);
    /// out: x, [2 · half], its halves turned against each other: pair (i, i + half) by the angle
    /// whose cosine and sine are given, [half]; times `scale`.
    void (*rotate)(const float* x, const float* cosine, const float* sine, int half, float scale,
                   float* out);
    /// x += change; out = x / rms(x) · weight. All: [width]; out may be x.
    void (*add_rms_norm)(float* x, const float* change, const float* weight, double epsilon,
                         int width, float* out);
    /// out[i] = gate / (1 + exp(−gate)) · up.
    void (*swiglu)(const float* gates, const float* ups, int count, float* out);
    SoftmaxPart (*softmax)(const float* logits, int count, float sharpness);
    /// Nothing but int8 dot products of vectors, of 64 pairs each: what products are measured
    /// against, those with tiles too, although they may be faster. quants:
    /// 512 bytes; digits: 32.
    std::int32_t (*bare_dots)(const std::byte* quants, const std::int8_t* digits, int dots);
};

/// What CPUID and XGETBV say of AMX.
struct TileBits {
    std::uint32_t leaf7_edx = 0;  ///< AMX-TILE 24, AMX-INT8 25
    std::uint64_t saved = 0;      ///< XCR0: registers the operating system can save
};
bool has_int8_tiles(const TileBits& bits);

/// The fastest that this processor runs. AMX's tiles also need the operating system's permission,
/// which is asked for once.
const Loops& loops();
/// All that it runs; the portable one is always among them.
std::span<const Loops* const> all_loops();
/// AMX's loops in plain C++, its few instructions emulated; slow.
const Loops& loops_with_emulated_tiles();

}  // namespace assay::decode
