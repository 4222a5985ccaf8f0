// Random rows of a linear map, their scores and gradients in double precision, and what a back
// end's must be like. For tests.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/cpu/element_types.hpp"
#include "kernels/reference/reference.hpp"

namespace assay::kernels::reference {

/// Numbers as a type stores them, and as double.
struct StoredNumbers {
    std::vector<std::byte> bytes;
    std::vector<double> values;

    StoredNumbers() = default;
    StoredNumbers(AssayType type, std::size_t count, std::mt19937_64& random) {
        for (const float value : random_floats(count, random)) {
            std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
            if (type == ASSAY_BF16) bits &= 0xffff0000U;
            values.push_back(std::bit_cast<float>(bits));
            const std::size_t size = type == ASSAY_BF16 ? 2 : 4;
            const std::size_t at = bytes.size();
            bytes.resize(at + size);
            if (type == ASSAY_BF16) bits >>= 16;
            std::memcpy(&bytes[at], &bits, size);
        }
    }
};

class RowScoresProblem {
  public:
    int out, in, tokens, rows, target_rows, a = 3, b = 4;
    AssayType type;
    StoredNumbers x, go, target_x, target_go, project_out, project_in;
    std::vector<float> scores, gradient, weights;
    std::vector<float> workspace;  ///< aligned by hand

    RowScoresProblem(AssayType type, int out, int in, int tokens, int rows, int target_rows,
                     std::uint64_t seed)
        : out(out), in(in), tokens(tokens), rows(rows), target_rows(target_rows), type(type) {
        std::mt19937_64 random(seed);
        const auto numbers = [&](int first, int second, int third) {
            return StoredNumbers(type, static_cast<std::size_t>(first) * second * third, random);
        };
        x = numbers(rows, tokens, in);
        go = numbers(rows, tokens, out);
        target_x = numbers(target_rows, tokens, in);
        target_go = numbers(target_rows, tokens, out);
        project_out = numbers(1, a, out);
        project_in = numbers(1, b, in);
        for (int row = 0; row < rows; ++row)
            weights.push_back(random() % 3 == 0 ? 0.0F : 0.25F * static_cast<float>(random() % 9));
        scores.assign(static_cast<std::size_t>(rows) + 1, guard);
        gradient.assign(static_cast<std::size_t>(out) * in + 1, guard);
    }

    AssayRowScores call(AssayScoring scoring) {
        AssayRowScores call{};
        call.scoring = scoring;
        call.out = out;
        call.in = in;
        call.tokens = tokens;
        call.rows = rows;
        call.target_rows = target_rows;
        call.type = type;
        call.x = x.bytes.data();
        call.go = go.bytes.data();
        call.target_x = target_x.bytes.data();
        call.target_go = target_go.bytes.data();
        call.projected_out = a;
        call.projected_in = b;
        call.project_out = project_out.bytes.data();
        call.project_in = project_in.bytes.data();
        call.scores = scores.data();
        return call;
    }
    /// With a workspace of `bytes`, which starts as NaN.
    void give_workspace(AssayRowScores& call, std::size_t bytes) {
        workspace.assign(bytes / sizeof(float) + 32, std::numeric_limits<float>::quiet_NaN());
        auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
        address = (address + 63) / 64 * 64;
        call.workspace = reinterpret_cast<void*>(address);
        call.workspace_bytes = bytes;
    }
    AssayWeightGradient gradient_call() {
        return {out,
                in,
                tokens,
                rows,
                type,
                x.bytes.data(),
                go.bytes.data(),
                weights.data(),
                gradient.data()};
    }

    /// NaN into all of a row, which must then count for nothing.
    void poison(int row) {
        const auto fill = [&](StoredNumbers& numbers, int width) {
            const std::size_t size = type == ASSAY_BF16 ? 2 : 4;
            const std::size_t count = size * tokens * static_cast<std::size_t>(width);
            std::fill_n(numbers.bytes.begin() + static_cast<std::ptrdiff_t>(count * row), count,
                        std::byte{0xff});
        };
        fill(x, in);
        fill(go, out);
    }

    /// A row's gradient [out][in] (or of projections [a][b]), and the same of magnitudes.
    std::vector<Bounded> row_gradient(const StoredNumbers& xs, const StoredNumbers& gos, int row,
                                      bool compressed) const {
        const int o_width = compressed ? a : out, i_width = compressed ? b : in;
        std::vector<Bounded> result(static_cast<std::size_t>(o_width) * i_width);
        for (int s = 0; s < tokens; ++s) {
            const auto outs = token(gos, row, s, out, compressed ? &project_out : nullptr, a);
            const auto ins = token(xs, row, s, in, compressed ? &project_in : nullptr, b);
            for (int o = 0; o < o_width; ++o)
                for (int i = 0; i < i_width; ++i) {
                    Bounded& sum = result[static_cast<std::size_t>(o * i_width + i)];
                    sum.value += outs[o].value * ins[i].value;
                    sum.error += outs[o].error * ins[i].error;
                }
        }
        return result;
    }

    /// Whether a back end may round the target's gradient to bf16 (pip in bf16 by whole pieces of
    /// 16 bytes: kernels/cuda/device/score_tiles_kernels.hpp).
    bool may_round(AssayScoring scoring) const {
        return scoring == ASSAY_PIP && type == ASSAY_BF16 && out % 8 == 0 && in % 8 == 0;
    }

    /// Score of each row, and how far one may be from it. `rounded`: of the target's gradient in
    /// bf16, either neighbour where its sum lies too near to their middle to tell.
    std::vector<Bounded> expected_scores(bool compressed, bool rounded) const {
        std::vector<Bounded> target;
        for (int v = 0; v < target_rows; ++v) {
            const auto one = row_gradient(target_x, target_go, v, compressed);
            target.resize(one.size());
            for (std::size_t i = 0; i < one.size(); ++i) {
                target[i].value += one[i].value;
                target[i].error += one[i].error;
            }
        }
        std::vector<double> unsure(target.size());
        for (std::size_t i = 0; rounded && i < target.size(); ++i) {
            const double low = to_bf16(target[i].value - rounding * target[i].error);
            const double high = to_bf16(target[i].value + rounding * target[i].error);
            target[i].value = (low + high) / 2;
            unsure[i] = (high - low) / 2;
        }
        std::vector<Bounded> expected;
        for (int row = 0; row < rows; ++row) {
            const auto one = row_gradient(x, go, row, compressed);
            Bounded score;
            for (std::size_t i = 0; i < one.size(); ++i) {
                score.value += one[i].value * target[i].value;
                score.error +=
                    rounding * one[i].error * target[i].error + std::abs(one[i].value) * unsure[i];
            }
            expected.push_back(score);
        }
        return expected;
    }

    /// Of the call's scoring, as any back end may find them.
    void expect_scores(AssayScoring scoring) const {
        const bool compressed = scoring == ASSAY_COMPRESSED;
        const auto expected = expected_scores(compressed, false);
        const auto rounded = may_round(scoring) ? expected_scores(compressed, true) : expected;
        for (std::size_t row = 0; row < expected.size(); ++row)
            if (std::abs(scores[row] - rounded[row].value) > rounded[row].error) {
                EXPECT_NEAR(scores[row], expected[row].value, expected[row].error)
                    << "row " << row << ", by a rounded gradient " << rounded[row].value << " ± "
                    << rounded[row].error;
            }
        EXPECT_EQ(scores.back(), guard);
    }
    void expect_gradient() const {
        std::vector<Bounded> sum(static_cast<std::size_t>(out) * in);
        for (int row = 0; row < rows; ++row) {
            const float weight = weights[static_cast<std::size_t>(row)];
            if (weight == 0) continue;
            const auto one = row_gradient(x, go, row, false);
            for (std::size_t i = 0; i < one.size(); ++i) {
                sum[i].value += weight * one[i].value;
                sum[i].error += std::abs(weight) * one[i].error;
            }
        }
        for (std::size_t i = 0; i < sum.size(); ++i)
            ASSERT_NEAR(gradient[i], sum[i].value, rounding * sum[i].error) << i;
        EXPECT_EQ(gradient.back(), guard);
    }

    static constexpr float guard = -7;
    /// Of the sum of magnitudes: some ten roundings of half a unit in the last place.
    static constexpr double rounding = 1e-6;

  private:
    static double to_bf16(double value) {
        std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
        bits += 0x7fffU + (bits >> 16 & 1U);
        return std::bit_cast<float>(bits & 0xffff0000U);
    }

    std::vector<Bounded> token(const StoredNumbers& numbers, int row, int s, int width,
                               const StoredNumbers* projection, int count) const {
        const auto* const at =
            numbers.values.data() + (static_cast<std::size_t>(row) * tokens + s) * width;
        std::vector<Bounded> result;
        if (!projection) {
            for (int i = 0; i < width; ++i) result.push_back({at[i], std::abs(at[i])});
            return result;
        }
        for (int j = 0; j < count; ++j) {
            Bounded sum;
            for (int i = 0; i < width; ++i) {
                const double product =
                    at[i] * projection->values[static_cast<std::size_t>(j * width + i)];
                sum.value += product;
                sum.error += std::abs(product);
            }
            result.push_back(sum);
        }
        return result;
    }
};

/// Random shapes through `score` and `differentiate`, which give workspace and run the call. Widths
/// are multiples of `unit`.
inline void expect_row_scores(const std::function<void(RowScoresProblem&, AssayRowScores)>& score,
                              const std::function<void(RowScoresProblem&)>& differentiate,
                              int rounds, int most_width, int unit = 1) {
    std::mt19937_64 random(11);
    const auto draw = [&](int most) { return 1 + static_cast<int>(random() % most); };
    for (int round = 0; round < rounds; ++round) {
        const AssayType type = round % 2 == 0 ? ASSAY_F32 : ASSAY_BF16;
        const int out = draw(most_width / unit) * unit, in = draw(most_width / unit) * unit;
        RowScoresProblem problem(type, out, in, draw(most_width), draw(4), draw(3), random());
        for (const AssayScoring scoring : {ASSAY_PIP, ASSAY_GIP, ASSAY_COMPRESSED}) {
            problem.scores.assign(problem.scores.size(), RowScoresProblem::guard);
            score(problem, problem.call(scoring));
            problem.expect_scores(scoring);
        }
        // What is left out is not read.
        for (int row = 0; row < problem.rows; ++row)
            if (problem.weights[static_cast<std::size_t>(row)] == 0) problem.poison(row);
        differentiate(problem);
        problem.expect_gradient();
    }
}

}  // namespace assay::kernels::reference
