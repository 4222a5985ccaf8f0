// The sparse FFN's source, run by the emulation, against double precision: random shapes, masks,
// devices and orders of threads and blocks. Outputs, workspace and block memory start as NaN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cuda/emulation/emulated_machine.hpp"
#include "kernels/cuda/host/check.hpp"
#include "kernels/reference/random_problem.hpp"
#include "kernels/reference/reference.hpp"

namespace assay::kernels::cuda {
namespace {

using reference::Bounded;
using reference::draw;
using reference::FfnProblem;
using reference::FfnShape;
using reference::plain_types;

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

void expect_experts_kept_from_others(AssayType type, std::size_t batch) {
    SparseFfn ffn({type, ASSAY_SWIGLU, 48, 12, 8, static_cast<int>(batch), 0.85}, 21);
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
    for (std::size_t token = 0; token < batch; ++token)
        for (std::size_t c = 0; c < 48; ++c)
            EXPECT_EQ(std::isnan(problem.y[token * 48 + c]),
                      problem.mask[token * 12 + expert] != 0);
}

TEST(EmulatedSparseFfn, KeepsExpertsFromTokensThatDoNotUseThem) {
    expect_experts_kept_from_others(ASSAY_F32, 4);
    expect_experts_kept_from_others(ASSAY_BF16, 6);  // on tensor cores
    expect_experts_kept_from_others(ASSAY_BF16, 13);
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
