// The CUDA kernels' source, run by the emulation, against double precision: every format, random
// shapes, masks, devices and orders of threads and blocks. Outputs, workspace and block memory
// start as NaN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cuda/emulation/emulated_machine.hpp"
#include "kernels/cuda/host/check.hpp"
#include "kernels/reference/floats.hpp"
#include "kernels/reference/random_problem.hpp"
#include "kernels/reference/sparse_ffn.hpp"

namespace assay::kernels::cuda {
namespace {

using reference::Bounded;
using reference::FfnProblem;
using reference::FfnShape;
using reference::GemvProblem;

constexpr AssayType all_types[] = {ASSAY_F32,  ASSAY_F16,  ASSAY_BF16,
                                   ASSAY_Q8_0, ASSAY_Q4_0, ASSAY_Q4_1};
constexpr AssayType plain_types[] = {ASSAY_F32, ASSAY_F16, ASSAY_BF16};

int draw(std::mt19937_64& random, int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
}
bool is_q(AssayType type) { return type >= ASSAY_Q8_0; }

void expect_gemv(GemvProblem& problem, int multiprocessors, std::uint64_t seed, bool bias) {
    AssayGemv call = problem.call();
    if (!bias) call.bias = nullptr;
    ASSERT_EQ(check(call).status, ASSAY_OK) << check(call).why;
    EmulatedMachine machine(multiprocessors, seed);
    launch_gemv(machine, call);
    const std::vector<Bounded> expected = reference::gemv(call);
    for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(problem.y[i], expected[i].value, expected[i].error)
            << "type " << problem.type << ", " << problem.rows << "×" << problem.columns
            << ", batch " << problem.batch << ", at " << i;
    EXPECT_TRUE(problem.y.guards_stand());
}

TEST(EmulatedGemv, AgreesWithDoublePrecisionForRandomShapes) {
    std::mt19937_64 random(7);
    for (const AssayType type : all_types)
        for (int round = 0; round < 10; ++round) {
            const int rows = draw(random, 1, 90), batch = draw(random, 1, 16);
            // Rows of whole 16 bytes in half of the rounds, so that both ways to read are met.
            const int unit = is_q(type) ? 32 : round % 2 == 0 ? 8 : 1;
            const int columns = unit * draw(random, 1, 400 / unit);
            GemvProblem problem(type, rows, columns, batch, random());
            expect_gemv(problem, draw(random, 1, 3), random(), round % 3 != 0);
        }
}

TEST(EmulatedGemv, AgreesWhereXTakesSeveralTiles) {
    for (const AssayType type : {ASSAY_F32, ASSAY_BF16, ASSAY_Q4_0}) {
        GemvProblem wide(type, 37, 2368, 16, 5);  // three tiles of 1024, or one of 4096
        expect_gemv(wide, 1, 1, true);
    }
    GemvProblem single(ASSAY_F16, 5, 4999, 3, 5);
    expect_gemv(single, 1, 1, true);
    GemvProblem long_rows(ASSAY_BF16, 3, 16384 + 520, 1, 5);
    expect_gemv(long_rows, 1, 1, true);
}

TEST(EmulatedGemv, ReadsUnalignedRowsOneByOne) {
    for (const AssayType type : plain_types)
        for (const int columns : {1, 2, 7, 31, 32, 33, 40}) {
            GemvProblem problem(type, 3, columns, 2, 9, type == ASSAY_F32 ? 4 : 2);
            expect_gemv(problem, 1, 2, true);
        }
}

TEST(EmulatedGemv, LetsNaNThroughWhereItBelongs) {
    for (const int columns : {5, 64}) {
        GemvProblem problem(ASSAY_F32, 20, columns, 2, 3);
        problem.x[static_cast<std::size_t>(2 * columns - 1)] =
            std::numeric_limits<float>::quiet_NaN();  // token 1
        EmulatedMachine machine(1, 1);
        launch_gemv(machine, problem.call());
        for (std::size_t r = 0; r < 20; ++r) {
            EXPECT_FALSE(std::isnan(problem.y[r]));
            EXPECT_TRUE(std::isnan(problem.y[20 + r]));
        }
    }
}

TEST(EmulatedRouter, AgreesWithDoublePrecisionAndListsTheUnionInOrder) {
    std::mt19937_64 random(19);
    int on = 0, off = 0;
    for (int round = 0; round < 36; ++round) {
        const AssayType type = plain_types[round % 3];
        const int width = round % 2 == 0 ? 8 * draw(random, 1, 24) : draw(random, 1, 200);
        // More experts than the listing block has threads in some rounds.
        const int experts = round % 9 == 0 ? draw(random, 500, 1100) : draw(random, 1, 90);
        const int batch = round % 9 == 0 ? 1 : draw(random, 1, 16);
        const float threshold = static_cast<float>(round % 5) * 1.5f - 1.0f;
        const auto weights = reference::random_weights(type, experts, width, random);
        const auto x = reference::random_floats(static_cast<std::size_t>(width * batch), random);
        std::vector<std::uint8_t> mask(static_cast<std::size_t>(experts * batch), 77);
        std::vector<std::int32_t> active(static_cast<std::size_t>(experts), -5);
        std::int32_t count = -1;
        const AssayRouter call{width, experts,  type,        weights.data(), threshold,
                               batch, x.data(), mask.data(), active.data(),  &count};
        ASSERT_EQ(check(call).status, ASSAY_OK);
        EmulatedMachine machine(draw(random, 1, 3), random());
        launch_router(machine, call);
        EXPECT_EQ(machine.launches, 1);
        EXPECT_EQ(machine.counters()[0], 0);

        std::vector<std::int32_t> expected_union;
        for (int e = 0; e < experts; ++e) {
            bool any = false;
            for (int t = 0; t < batch; ++t) {
                const Bounded logit = reference::dot(
                    type, weights.data() + static_cast<std::size_t>(e) * row_bytes(type, width),
                    x.data() + t * width, width);
                const int is_active = mask[static_cast<std::size_t>(t * experts + e)];
                ASSERT_TRUE(is_active == 0 || is_active == 1);
                any |= is_active == 1;
                if (std::abs(logit.value - threshold) > logit.error) {
                    ASSERT_EQ(is_active, logit.value > threshold) << logit.value;
                }
                ++(is_active ? on : off);
            }
            if (any) expected_union.push_back(e);
        }
        ASSERT_EQ(count, static_cast<int>(expected_union.size()));
        active.resize(static_cast<std::size_t>(count));
        EXPECT_EQ(active, expected_union);
    }
    EXPECT_GT(on, 1000);
    EXPECT_GT(off, 1000);
}

/// A problem with the CUDA back end's own workspace behind it.
class SparseFfn {
  public:
    SparseFfn(const FfnShape& shape, std::uint64_t seed)
        : problem(shape, seed),
          workspace_(workspace_layout(problem.call().ffn, shape.batch).bytes / sizeof(float) + 16) {
    }
    AssaySparseFfn call() {
        AssaySparseFfn call = problem.call();
        const auto address = reinterpret_cast<std::uintptr_t>(workspace_.data());
        call.workspace = reinterpret_cast<void*>((address + 63) / 64 * 64);
        call.workspace_bytes = workspace_layout(call.ffn, call.batch).bytes;
        return call;
    }
    void run(const AssaySparseFfn& call, int multiprocessors, std::uint64_t seed) {
        ASSERT_EQ(check(call).status, ASSAY_OK) << check(call).why;
        problem.y.poison();
        workspace_.poison();
        EmulatedMachine machine(multiprocessors, seed);
        launch_gate_up(machine, call);
        launch_down(machine, call);
        EXPECT_EQ(machine.launches, 2);
        const std::vector<int>& counters = machine.all_counters();
        EXPECT_EQ(std::count(counters.begin(), counters.end(), 0), cuda::counters);
        EXPECT_TRUE(problem.y.guards_stand());
        EXPECT_TRUE(workspace_.guards_stand());
    }
    std::vector<float> y() { return {problem.y.data(), problem.y.data() + problem.y.size()}; }

    FfnProblem problem;

  private:
    reference::PoisonedFloats workspace_;
};

void expect_agreement(const FfnShape& shape, int multiprocessors, std::uint64_t seed) {
    SparseFfn ffn(shape, seed);
    const AssaySparseFfn call = ffn.call();
    ffn.run(call, multiprocessors, seed);
    const std::vector<Bounded> expected = reference::sparse_ffn(call);
    for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(ffn.problem.y[i], expected[i].value, expected[i].error)
            << "type " << shape.type << ", activation " << shape.activation << ", width "
            << shape.width << ", " << shape.experts << " experts of " << shape.expert_size
            << ", batch " << shape.batch << ", sparsity " << shape.sparsity << ", at " << i;
}

TEST(EmulatedSparseFfn, AgreesWithDoublePrecisionForRandomShapesAndMasks) {
    std::mt19937_64 random(3);
    constexpr AssayActivation activations[] = {ASSAY_SWIGLU, ASSAY_GELU, ASSAY_RELU};
    for (const AssayType type : plain_types)
        for (const AssayActivation activation : activations)
            for (const double sparsity : {0.0, 0.25, 0.5, 0.75, 0.9, 1.0}) {
                FfnShape shape{type, activation};
                shape.width = random() % 2 ? 8 * draw(random, 1, 40) : draw(random, 1, 140);
                shape.experts = draw(random, 1, 20);
                shape.expert_size = draw(random, 1, 40);
                shape.batch = random() % 3 ? draw(random, 1, 16) : 1;
                shape.sparsity = sparsity;
                shape.masked = random() % 3 != 0;
                shape.biases = random() % 2 != 0;
                expect_agreement(shape, draw(random, 1, 4), random());
            }
}

TEST(EmulatedSparseFfn, AgreesForWidthsOfSeveralSlabsAndTiles) {
    FfnShape shape{ASSAY_BF16, ASSAY_SWIGLU, 1288, 9, 5, 16, 0.5};
    expect_agreement(shape, 2, 1);
    shape.width = 600;
    shape.batch = 1;
    expect_agreement(shape, 200, 2);
    shape.type = ASSAY_F32;
    shape.batch = 7;
    expect_agreement(shape, 3, 3);
}

TEST(EmulatedSparseFfn, GivesOnlyTheBiasWhenNothingIsActive) {
    for (const int multiprocessors : {1, 40}) {
        SparseFfn ffn({ASSAY_BF16, ASSAY_SWIGLU, 104, 6, 32, 2, 1.0}, 9);
        ASSERT_EQ(ffn.problem.active_count, 0);
        ffn.run(ffn.call(), multiprocessors, 1);
        for (std::size_t i = 0; i < 208; ++i)
            EXPECT_EQ(ffn.problem.y[i], ffn.problem.down_bias[i % 104]);
    }
}

TEST(EmulatedSparseFfn, KeepsExpertsFromTokensThatDoNotUseThem) {
    SparseFfn ffn({ASSAY_F32, ASSAY_SWIGLU, 48, 12, 8, 4, 0.75}, 21);
    FfnProblem& problem = ffn.problem;
    const AssaySparseFfn call = ffn.call();
    ffn.run(call, 2, 1);
    const std::vector<float> before = ffn.y();
    const auto poison = [&](std::size_t expert) {
        const std::size_t from = problem.row_offset(expert * 8);
        const std::size_t to = problem.row_offset(expert * 8 + 8);
        for (auto* weights : {&problem.gate, &problem.up, &problem.down})
            std::memset(weights->data() + from, 0xff, to - from);  // NaN
    };
    const auto used = [&](std::int32_t expert) {
        const auto end = problem.active.begin() + problem.active_count;
        return std::find(problem.active.begin(), end, expert) != end;
    };
    int poisoned = 0;
    for (std::int32_t expert = 0; expert < 12; ++expert)
        if (!used(expert)) {
            poison(static_cast<std::size_t>(expert));
            ++poisoned;
        }
    ASSERT_GT(poisoned, 0);
    ffn.run(call, 2, 1);
    EXPECT_EQ(ffn.y(), before);

    const auto expert = static_cast<std::size_t>(problem.active[0]);
    poison(expert);
    ffn.run(call, 2, 1);
    for (std::size_t token = 0; token < 4; ++token)
        for (std::size_t c = 0; c < 48; ++c)
            EXPECT_EQ(std::isnan(problem.y[token * 48 + c]),
                      problem.mask[token * 12 + expert] != 0);
}

TEST(EmulatedSparseFfn, GivesTheSameBitsInAnyOrderOfBlocksAndThreads) {
    for (const AssayType type : plain_types) {
        SparseFfn ffn({type, ASSAY_SWIGLU, 520, 12, 7, 5, 0.5}, 17);
        std::vector<float> first;
        for (std::uint64_t order = 1; order <= 4; ++order) {
            ffn.run(ffn.call(), 5, order);
            if (first.empty()) first = ffn.y();
            ASSERT_EQ(std::memcmp(first.data(), ffn.y().data(), first.size() * sizeof(float)), 0);
        }
    }
}

TEST(EmulatedSparseFfn, StaysInsideTheNetworkWhenTheListIsWrong) {
    SparseFfn ffn({ASSAY_F32, ASSAY_RELU, 40, 4, 8, 2, 0.0}, 1);
    ffn.problem.active = {0, 1, 99, -7};
    ffn.problem.active_count = 1000;
    ffn.run(ffn.call(), 2, 1);
    const std::vector<float> y = ffn.y();
    ffn.problem.active_count = 2;
    ffn.run(ffn.call(), 2, 1);
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], ffn.y()[i], 1e-4);
}

}  // namespace
}  // namespace assay::kernels::cuda
