// The sparse FFN's source, run by the emulation, against double precision: random shapes, masks,
// devices and orders of threads and blocks. Outputs, workspace and block memory start as NaN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>

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
    /// In one launch, with up to `side_by_side` blocks at a time; router: as launch_persistent().
    void run_persistent(const AssaySparseFfn& call, int multiprocessors, int side_by_side,
                        std::uint64_t seed, const AssayRouter* router = nullptr) {
        problem.y.poison();
        workspace_.poison();
        EmulatedMachine machine(multiprocessors, seed);
        machine.side_by_side = side_by_side;
        machine.device().persistent = 1;
        ASSERT_TRUE(is_persistent(machine.device(), call));
        launch_persistent(machine, call, router);
        expect_clean(machine, 1);
    }
    /// What gate and up have written is there when down has waited for it, no sooner.
    void run(const AssaySparseFfn& call, int multiprocessors, std::uint64_t seed,
             const Device& settings = {}) {
        ASSERT_EQ(check(call).status, ASSAY_OK) << check(call).why;
        problem.y.poison();
        workspace_.poison();
        EmulatedMachine machine(multiprocessors, seed);
        machine.device() = settings;
        machine.device().multiprocessors = multiprocessors;
        launch_gate_up(machine, call);
        const reference::PoisonedFloats written = workspace_;
        workspace_.poison();
        machine.kernel_before(
            [&] { std::copy_n(std::as_const(written).data(), written.size(), workspace_.data()); });
        launch_down(machine, call);
        expect_clean(machine, 2);
    }
    std::vector<float> y() { return {problem.y.data(), problem.y.data() + problem.y.size()}; }

    FfnProblem problem;

  private:
    void expect_clean(const EmulatedMachine& machine, int launches) {
        EXPECT_EQ(machine.launches, launches);
        const std::vector<int>& counters = machine.all_counters();
        EXPECT_EQ(std::count(counters.begin(), counters.end(), 0), cuda::counters);
        EXPECT_TRUE(problem.y.guards_stand());
        EXPECT_TRUE(workspace_.guards_stand());
    }

    reference::PoisonedFloats workspace_;
};

void expect_reference(SparseFfn& ffn, const AssaySparseFfn& call, const FfnShape& shape) {
    const std::vector<Bounded> expected = reference::sparse_ffn(call);
    for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(ffn.problem.y[i], expected[i].value, expected[i].error)
            << "type " << shape.type << ", activation " << shape.activation << ", width "
            << shape.width << ", " << shape.experts << " experts of " << shape.expert_size
            << ", batch " << shape.batch << ", sparsity " << shape.sparsity << ", at " << i;
}

void expect_agreement(const FfnShape& shape, int multiprocessors, std::uint64_t seed,
                      const Device& settings = {}) {
    SparseFfn ffn(shape, seed);
    const AssaySparseFfn call = ffn.call();
    ffn.run(call, multiprocessors, seed, settings);
    expect_reference(ffn, call, shape);
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

TEST(EmulatedSparseFfn, AddsMorePartsThanAreWaitedForTogether) {
    expect_agreement({ASSAY_BF16, ASSAY_SWIGLU, 256, 24, 32, 1, 0.3}, 200, 4);
    expect_agreement({ASSAY_F32, ASSAY_GELU, 130, 40, 11, 3, 0.1}, 200, 5);
    expect_agreement({ASSAY_F32, ASSAY_RELU, 128, 24, 32, 6, 0.3}, 200, 6);
    expect_agreement({ASSAY_BF16, ASSAY_SWIGLU, 256, 24, 32, 13, 0.3}, 200, 7);  // tensor cores
    for (const int batch : {1, 4}) {
        const FfnShape shape{ASSAY_BF16, ASSAY_SWIGLU, 256, 24, 32, batch, 0.3};
        SparseFfn ffn(shape, 8);
        const AssaySparseFfn call = ffn.call();
        ffn.run_persistent(call, 100, 2, 9);
        expect_reference(ffn, call, shape);
    }
}

TEST(EmulatedSparseFfn, AgreesWhereThereAreMorePartsThanNeurons) {
    expect_agreement({ASSAY_BF16, ASSAY_SWIGLU, 256, 40, 11, 1, 0.97}, 200, 1);
    expect_agreement({ASSAY_F32, ASSAY_GELU, 96, 40, 1, 2, 0.97}, 200, 2);
}

TEST(EmulatedSparseFfn, AgreesWithEverySetting) {
    Device settings;
    settings.tensor_cores = false;
    for (const int batch : {5, 8, 13, 16})
        expect_agreement({ASSAY_BF16, ASSAY_SWIGLU, 264, 9, 11, batch, 0.5}, 2, 1, settings);
    settings = {};
    settings.prefetch_next = 1;
    settings.prefetch_mb = settings.down_prefetch_mb = 0;
    for (const int batch : {1, 4, 16})
        expect_agreement({ASSAY_BF16, ASSAY_SWIGLU, 264, 9, 11, batch, 0.2}, 1, 2, settings);
}

TEST(EmulatedSparseFfn, AgreesWhereDownAloneIsUnaligned) {
    for (const int batch : {1, 3, 9}) {
        const FfnShape shape{ASSAY_BF16, ASSAY_SWIGLU, 136, 9, 11, batch, 0.4};
        SparseFfn ffn(shape, 3);
        AssaySparseFfn call = ffn.call();
        std::vector<std::byte> moved(ffn.problem.down.size() + 64);
        const auto at = reinterpret_cast<std::uintptr_t>(moved.data());
        std::byte* const down = moved.data() + (64 - at % 64) % 64 + 4;
        std::memcpy(down, call.ffn.down, ffn.problem.down.size());
        call.ffn.down = down;
        ffn.run(call, 2, 4);
        expect_reference(ffn, call, shape);
    }
}

TEST(EmulatedSparseFfn, ReadsNoMoreOfTheListThanItsCount) {
    for (const double sparsity : {0.6, 1.0})
        for (const int batch : {1, 3}) {
            const FfnShape shape{ASSAY_BF16, ASSAY_SWIGLU, 264, 13, 9, batch, sparsity};
            SparseFfn ffn(shape, 5);
            AssaySparseFfn call = ffn.call();
            const auto count = static_cast<std::size_t>(*call.active_count);
            // Not a vector: that of an empty list has no address to give.
            const auto list = std::make_unique<std::int32_t[]>(count);
            std::copy_n(call.active, count, list.get());
            call.active = list.get();
            ffn.run(call, 3, 1);
            expect_reference(ffn, call, shape);
            ffn.run_persistent(call, 3, 2, 1);
            expect_reference(ffn, call, shape);
        }
}

/// An activation that is not a number reaches the tokens that use its expert: what is asked for
/// once more beyond a part's end reaches nobody.
void expect_nan_where_the_expert_is_used(const FfnShape& shape, int multiprocessors,
                                         bool persistent) {
    const auto size = static_cast<std::size_t>(shape.expert_size);
    const int active = FfnProblem(shape, 7).active_count;
    ASSERT_GT(active, 0);
    for (int slot = 0; slot < active; ++slot) {
        SparseFfn ffn(shape, 7);
        FfnProblem& problem = ffn.problem;
        const auto expert =
            static_cast<std::size_t>(problem.active[static_cast<std::size_t>(slot)]);
        const std::size_t from = problem.row_offset(expert * size);
        std::memset(problem.up.data() + from, 0xff,
                    problem.row_offset(expert * size + size) - from);
        if (persistent)
            ffn.run_persistent(ffn.call(), multiprocessors, 2, 3);
        else
            ffn.run(ffn.call(), multiprocessors, 3);
        for (std::size_t i = 0; i < problem.y.size(); ++i) {
            const std::size_t token = i / static_cast<std::size_t>(shape.width);
            ASSERT_EQ(std::isnan(problem.y[i]),
                      problem.mask[token * static_cast<std::size_t>(shape.experts) + expert] != 0)
                << "type " << shape.type << ", width " << shape.width << ", experts of " << size
                << ", batch " << shape.batch << ", at " << i;
        }
    }
}

TEST(EmulatedSparseFfn, AsksBeyondAPartsEndForNothingThatIsAdded) {
    for (const int size : {1, 3, 11})
        for (const int batch : {2, 4, 6, 13})
            for (const int multiprocessors : {2, 40}) {
                const AssayType type = plain_types[size % 3];
                expect_nan_where_the_expert_is_used(
                    {type, ASSAY_SWIGLU, size == 3 ? 45 : 48, 12, size, batch, 0.8},
                    multiprocessors, false);
                if (batch <= 4)
                    expect_nan_where_the_expert_is_used(
                        {ASSAY_BF16, ASSAY_SWIGLU, 264, 12, size, batch, 0.8}, multiprocessors / 2,
                        true);
            }
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

// One launch: blocks side by side wait for each other, and the first alone does everything.

TEST(EmulatedPersistentFfn, AgreesWithDoublePrecisionForRandomShapesAndMasks) {
    std::mt19937_64 random(5);
    constexpr AssayActivation activations[] = {ASSAY_SWIGLU, ASSAY_GELU, ASSAY_RELU};
    for (const AssayType type : plain_types)
        for (const double sparsity : {0.0, 0.5, 0.9, 1.0})
            for (int round = 0; round < 3; ++round) {
                FfnShape shape{type, activations[round]};
                shape.width = 8 * draw(random, 1, 80);
                shape.experts = draw(random, 1, 20);
                shape.expert_size = draw(random, 1, 40);
                shape.batch = round == 0 ? 1 : draw(random, 1, 4);
                shape.sparsity = sparsity;
                shape.masked = random() % 3 != 0;
                shape.biases = random() % 2 != 0;
                SparseFfn ffn(shape, random());
                const AssaySparseFfn call = ffn.call();
                ffn.run_persistent(call, draw(random, 1, 3), draw(random, 1, 4), random());
                expect_reference(ffn, call, shape);
            }
}

TEST(EmulatedPersistentFfn, GivesTheSameBitsWhoeverTakesWhat) {
    for (const int batch : {1, 3}) {
        SparseFfn ffn({ASSAY_BF16, ASSAY_SWIGLU, 520, 12, 7, batch, 0.5}, 17);
        std::vector<float> first;
        for (int side_by_side = 1; side_by_side <= 6; ++side_by_side) {
            ffn.run_persistent(ffn.call(), 3, side_by_side, 100 + side_by_side);
            if (first.empty()) first = ffn.y();
            ASSERT_EQ(std::memcmp(first.data(), ffn.y().data(), first.size() * sizeof(float)), 0);
        }
    }
}

TEST(EmulatedPersistentFfn, DecidesOnItsExpertsItself) {
    std::mt19937_64 random(11);
    constexpr int few = 13, many = 37;  // warps share the rows of few experts
    for (const auto& [batch, experts] : {std::pair(1, few), {1, many}, {2, many}, {4, many}})
        for (const float threshold : {-1000.0f, 0.0f, 1000.0f}) {
            const FfnShape shape{ASSAY_BF16, ASSAY_SWIGLU, 264, experts, 8, batch, 0.5};
            SparseFfn ffn(shape, random());
            AssaySparseFfn call = ffn.call();
            std::vector<std::uint16_t> weights(static_cast<std::size_t>(experts * 264));
            for (auto& weight : weights)  // bf16 of a few bits, of both signs
                weight = static_cast<std::uint16_t>(random() % 2 << 15 | 0x3f00 | random() % 128);
            std::vector<std::uint8_t> mask(static_cast<std::size_t>(experts * batch), 9);
            std::vector<std::int32_t> active(static_cast<std::size_t>(experts), -9);
            std::int32_t count = -9;
            const AssayRouter router{264,   experts, ASSAY_BF16,  weights.data(), threshold,
                                     batch, call.x,  mask.data(), active.data(),  &count};
            call.mask = mask.data();
            call.active = active.data();
            call.active_count = &count;
            const auto decided = [&] {
                return std::tuple(mask, std::vector(active.begin(), active.begin() + count), count);
            };
            ffn.run_persistent(call, 2, 3, random(), &router);
            const auto ours = decided();
            expect_reference(ffn, call, shape);
            EmulatedMachine machine(2, 1);
            launch_router(machine, router);
            EXPECT_EQ(decided(), ours);
            EXPECT_TRUE(threshold != 0 || (count > 0 && count < experts * 4)) << count;
        }
}

TEST(EmulatedPersistentFfn, IsForAFewTokensOfAlignedRows) {
    Device device{132};
    SparseFfn ffn({ASSAY_BF16, ASSAY_SWIGLU, 264, 4, 8, 4, 0.5}, 1);
    EXPECT_FALSE(is_persistent(device, ffn.call())) << "not unless asked for";
    device.persistent = 1;
    EXPECT_TRUE(is_persistent(device, ffn.call()));
    AssaySparseFfn call = ffn.call();
    call.batch = 5;
    EXPECT_FALSE(is_persistent(device, call));
    call = ffn.call();
    call.ffn.width = 260;
    EXPECT_FALSE(is_persistent(device, call));
    call = ffn.call();
    call.ffn.width = 8192;
    EXPECT_FALSE(is_persistent(device, call)) << "x of four tokens does not fit";
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
