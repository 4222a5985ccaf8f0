// The CUDA plug-in on a GPU against double precision. Without a GPU every test is skipped, with the
// loader's reason; what can be tested there is in host/ and emulation/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "kernels/cpu/element_types.hpp"
#include "kernels/cuda/harness/device_problem.hpp"
#include "kernels/plugin/cuda_plugin.hpp"
#include "kernels/reference/random_problem.hpp"
#include "kernels/reference/reference.hpp"

namespace assay::kernels::cuda::harness {
namespace {

using reference::all_types;
using reference::Bounded;
using reference::draw;
using reference::FfnProblem;
using reference::FfnShape;
using reference::GemvProblem;
using reference::plain_types;

class CudaKernels : public testing::Test {
  protected:
    void SetUp() override {
        const Plugin& plugin = cuda_plugin();
        if (!plugin.kernels) GTEST_SKIP() << plugin.why_not;
        kernels = plugin.kernels;
        stream.emplace();
        context = reference::Context(kernels->create(0, 0, stream->handle),
                                     reference::DestroyContext{kernels});
        ASSERT_TRUE(context) << kernels->last_error(nullptr);
    }
    void TearDown() override { context.reset(); }
    void expect_ok(AssayStatus status) {
        ASSERT_EQ(status, ASSAY_OK) << kernels->last_error(context.get());
        ASSERT_EQ(kernels->synchronise(context.get()), ASSAY_OK)
            << kernels->last_error(context.get());
    }
    static void expect_near(const std::vector<float>& got, const std::vector<Bounded>& expected,
                            const std::string& what) {
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i)
            ASSERT_NEAR(got[i], expected[i].value, expected[i].error) << what << ", at " << i;
    }
    void expect_gemv(GemvProblem& problem) {
        DeviceGemv device(problem);
        expect_gemv(problem, device, problem.batch);
    }
    /// The first `batch` tokens. Every result is a number; of many rows, some sixty and the last
    /// are compared: the reference takes a thousand times as long as the GPU.
    void expect_gemv(GemvProblem& problem, DeviceGemv& device, int batch) {
        AssayGemv call = device.call();
        call.batch = batch;
        device.y.poison();
        expect_ok(kernels->gemv(context.get(), &call));
        const std::vector<float> y = device.y.get();
        const std::string what = "type " + std::to_string(call.type) + ", " +
                                 std::to_string(call.rows) + " rows of " +
                                 std::to_string(call.columns) + ", batch " + std::to_string(batch);
        const int step = 1 + call.rows / 61;
        for (int t = 0; t < batch; ++t) {
            const float* const of_token = y.data() + static_cast<std::ptrdiff_t>(t) * call.rows;
            for (int r = 0; r < call.rows; ++r)
                ASSERT_FALSE(std::isnan(of_token[r])) << what << ", row " << r;
            for (int r = call.rows - 1; r >= 0; r -= step) {
                const Bounded expected = reference::gemv_row(problem.call(), r, t);
                ASSERT_NEAR(of_token[r], expected.value, expected.error)
                    << what << ", token " << t << ", row " << r;
            }
        }
        for (std::size_t i = static_cast<std::size_t>(batch) * static_cast<std::size_t>(call.rows);
             i < y.size(); ++i)
            ASSERT_TRUE(std::isnan(y[i])) << what << ", beyond";
        EXPECT_TRUE(device.y.guard_stands());
    }
    void expect_ffn(const FfnShape& shape, std::uint64_t seed) {
        FfnProblem problem(shape, seed);
        DeviceFfn device(*kernels, problem);
        const AssaySparseFfn call = device.call();
        expect_ok(kernels->sparse_ffn(context.get(), &call));
        expect_near(device.y.get(), reference::sparse_ffn(problem.call()),
                    "type " + std::to_string(shape.type) + ", activation " +
                        std::to_string(shape.activation) + ", width " +
                        std::to_string(shape.width) + ", " + std::to_string(shape.experts) +
                        " experts of " + std::to_string(shape.expert_size) + ", batch " +
                        std::to_string(shape.batch) + ", sparsity " +
                        std::to_string(shape.sparsity));
        EXPECT_TRUE(device.y.guard_stands());
        EXPECT_TRUE(device.workspace.guard_stands());
    }

    const AssayKernels* kernels = nullptr;
    std::optional<Stream> stream;
    reference::Context context;
};

TEST_F(CudaKernels, GemvAgreesForRandomShapes) {
    std::mt19937_64 random(7);
    for (const AssayType type : all_types)
        for (int round = 0; round < 60; ++round) {
            const int unit = type >= ASSAY_Q8_0 ? 32 : round % 2 == 0 ? 8 : 1;
            const std::size_t skip = round % 5 == 4 ? (type == ASSAY_F32 ? 4 : 2) : 0;
            GemvProblem problem(type, draw(random, 1, 3000), unit * draw(random, 1, 700 / unit),
                                draw(random, 1, 16), random(), skip);
            expect_gemv(problem);
        }
}

TEST_F(CudaKernels, GemvAgreesForAModelsShapes) {
    for (const AssayType type : all_types) {
        GemvProblem up(type, 11008, 4096, 16, 1), tall(type, 300, 11008 + 16384, 16, 2);
        DeviceGemv up_there(up), tall_there(tall);
        for (const int batch : {1, 2, 5, 16}) {
            expect_gemv(up, up_there, batch);
            expect_gemv(tall, tall_there, batch);
        }
    }
}

TEST_F(CudaKernels, RouterAgreesAndListsTheUnionInOrder) {
    std::mt19937_64 random(19);
    for (int round = 0; round < 30; ++round) {
        const AssayType type = plain_types[round % 3];
        const int width = round % 2 == 0 ? 8 * draw(random, 1, 512) : draw(random, 1, 500);
        const int experts = draw(random, 1, 1500), batch = draw(random, 1, 16);
        const float threshold = static_cast<float>(round % 5) - 2.0f;
        const auto weights = reference::random_weights(type, experts, width, random);
        const auto x = reference::random_floats(static_cast<std::size_t>(width * batch), random);
        const DeviceArray<std::byte> weights_there(weights);
        const DeviceArray<float> x_there(x);
        DeviceArray<std::uint8_t> mask(static_cast<std::size_t>(experts * batch));
        DeviceArray<std::int32_t> active(static_cast<std::size_t>(experts)), count(1);
        mask.poison();
        active.poison();
        const AssayRouter call{width,         experts,     type,           weights_there.data(),
                               threshold,     batch,       x_there.data(), mask.data(),
                               active.data(), count.data()};
        expect_ok(kernels->router(context.get(), &call));
        const auto got = mask.get();
        std::vector<std::int32_t> expected_union;
        for (int e = 0; e < experts; ++e) {
            bool any = false;
            for (int t = 0; t < batch; ++t) {
                const Bounded logit = reference::dot(
                    type, weights.data() + static_cast<std::size_t>(e) * row_bytes(type, width),
                    x.data() + t * width, width);
                const int is_active = got[static_cast<std::size_t>(t * experts + e)];
                ASSERT_LE(is_active, 1);
                any |= is_active == 1;
                if (std::abs(logit.value - threshold) > logit.error) {
                    ASSERT_EQ(is_active, logit.value > threshold);
                }
            }
            if (any) expected_union.push_back(e);
        }
        auto listed = active.get();
        ASSERT_EQ(count.get()[0], static_cast<int>(expected_union.size()));
        listed.resize(expected_union.size());
        ASSERT_EQ(listed, expected_union);
    }
}

TEST_F(CudaKernels, SparseFfnAgreesForRandomShapesAndMasks) {
    std::mt19937_64 random(3);
    for (const AssayType type : plain_types)
        for (const AssayActivation activation : {ASSAY_SWIGLU, ASSAY_GELU, ASSAY_RELU})
            for (const double sparsity : {0.0, 0.25, 0.5, 0.75, 0.9, 1.0})
                for (int round = 0; round < 4; ++round) {
                    FfnShape shape{type, activation};
                    shape.width = round % 2 ? 8 * draw(random, 1, 160) : draw(random, 1, 300);
                    shape.experts = draw(random, 1, 40);
                    shape.expert_size = draw(random, 1, 40);
                    shape.batch = round == 0 ? 1 : draw(random, 1, 16);
                    shape.sparsity = sparsity;
                    shape.masked = random() % 3 != 0;
                    shape.biases = random() % 2 != 0;
                    expect_ffn(shape, random());
                }
}

TEST_F(CudaKernels, SparseFfnAgreesForEveryBatchAtAModelsWidth) {
    for (int batch = 1; batch <= 16; ++batch)
        expect_ffn({ASSAY_BF16, ASSAY_SWIGLU, 4096, 6, 32, batch, 0.5}, 5);
}

TEST_F(CudaKernels, SparseFfnDoesNotUseInactiveExpertsWeights) {
    FfnProblem problem({ASSAY_BF16, ASSAY_SWIGLU, 512, 64, 32, 4, 0.75}, 21);
    DeviceFfn device(*kernels, problem);
    const AssaySparseFfn call = device.call();
    expect_ok(kernels->sparse_ffn(context.get(), &call));
    const std::vector<float> before = device.y.get();
    int poisoned = 0;
    for (std::int32_t expert = 0; expert < 64; ++expert) {
        const auto end = problem.active.begin() + problem.active_count;
        if (std::find(problem.active.begin(), end, expert) != end) continue;
        const std::size_t from = problem.row_offset(static_cast<std::size_t>(expert) * 32);
        for (DeviceArray<std::byte>* weights : {&device.gate, &device.up, &device.down})
            must(cudaMemset(weights->data() + from, 0xff, problem.row_offset(32)));
        ++poisoned;
    }
    ASSERT_GT(poisoned, 0);
    device.poison_outputs();
    expect_ok(kernels->sparse_ffn(context.get(), &call));
    EXPECT_EQ(device.y.get(), before);
}

TEST_F(CudaKernels, GivesTheSameBitsEveryTime) {
    for (const int batch : {1, 4, 16}) {
        FfnProblem problem({ASSAY_BF16, ASSAY_SWIGLU, 2048, 100, 32, batch, 0.5}, 17);
        DeviceFfn device(*kernels, problem);
        const AssaySparseFfn call = device.call();
        std::vector<float> first;
        for (int repetition = 0; repetition < 20; ++repetition) {
            device.poison_outputs();
            expect_ok(kernels->sparse_ffn(context.get(), &call));
            if (first.empty()) first = device.y.get();
            ASSERT_EQ(std::memcmp(first.data(), device.y.get().data(), first.size() * 4), 0);
        }
    }
}

TEST_F(CudaKernels, ReplaysAGraphWhoseActiveExpertsChange) {
    // Router and network captured once; each replay has another x, so other experts and counts.
    std::mt19937_64 random(31);
    FfnProblem problem({ASSAY_BF16, ASSAY_SWIGLU, 256, 48, 32, 3, 0.5}, 8);
    DeviceFfn device(*kernels, problem);
    AssaySparseFfn ffn = device.call();
    const auto router_weights = reference::random_weights(ASSAY_BF16, 48, 256, random);
    const DeviceArray<std::byte> router_there(router_weights);
    const AssayRouter router{256,
                             48,
                             ASSAY_BF16,
                             router_there.data(),
                             4.0f,
                             3,
                             device.x.data(),
                             device.mask.data(),
                             device.active.data(),
                             device.active_count.data()};
    // Once outside, so that nothing is loaded during the capture.
    expect_ok(kernels->router(context.get(), &router));
    expect_ok(kernels->sparse_ffn(context.get(), &ffn));
    Graph graph(*stream, [&] {
        ASSERT_EQ(kernels->router(context.get(), &router), ASSAY_OK);
        ASSERT_EQ(kernels->sparse_ffn(context.get(), &ffn), ASSAY_OK);
    });
    int least = 48, most = 0;
    for (int replay = 0; replay < 12; ++replay) {
        problem.x = reference::random_floats(problem.x.size(), random);
        if (replay % 4 == 3) std::fill(problem.x.begin(), problem.x.end(), 0.0f);  // none active
        device.x.put(problem.x);
        device.poison_outputs();
        graph.replay();
        expect_ok(ASSAY_OK);
        problem.mask = device.mask.get();
        problem.active = device.active.get();
        problem.active_count = device.active_count.get()[0];
        least = std::min(least, problem.active_count);
        most = std::max(most, problem.active_count);
        expect_near(device.y.get(), reference::sparse_ffn(problem.call()),
                    "replay " + std::to_string(replay));
    }
    EXPECT_EQ(least, 0);
    EXPECT_GT(most, 0);
}

/// Gate, up and down in one launch, whose blocks wait for each other.
class CudaOneLaunch : public CudaKernels {
  protected:
    void SetUp() override {
        ::setenv("ASSAY_CUDA_PERSISTENT", "1", 1);
        CudaKernels::SetUp();
        ::unsetenv("ASSAY_CUDA_PERSISTENT");
    }
};

TEST_F(CudaOneLaunch, AgreesForRandomShapesAndMasks) {
    std::mt19937_64 random(7);
    for (const AssayType type : plain_types)
        for (const AssayActivation activation : {ASSAY_SWIGLU, ASSAY_GELU, ASSAY_RELU})
            for (const double sparsity : {0.0, 0.5, 0.9, 1.0})
                for (int round = 0; round < 3; ++round) {
                    FfnShape shape{type, activation};
                    shape.width = 8 * draw(random, 1, 160);
                    shape.experts = draw(random, 1, 40);
                    shape.expert_size = draw(random, 1, 40);
                    shape.batch = round == 0 ? 1 : draw(random, 1, 4);
                    shape.sparsity = sparsity;
                    shape.masked = random() % 3 != 0;
                    shape.biases = random() % 2 != 0;
                    expect_ffn(shape, random());
                }
    for (const int batch : {1, 4})
        expect_ffn({ASSAY_BF16, ASSAY_SWIGLU, 4096, 64, 32, batch, 0.9}, 5);
}

TEST_F(CudaOneLaunch, GivesTheSameBitsEveryTimeWhileOthersAreUnderWay) {
    for (const int batch : {1, 4}) {
        FfnProblem problem({ASSAY_BF16, ASSAY_SWIGLU, 4096, 100, 32, batch, 0.5}, 17);
        DeviceFfn device(*kernels, problem);
        const AssaySparseFfn call = device.call();
        std::vector<float> first;
        for (int repetition = 0; repetition < 50; ++repetition) {
            device.poison_outputs();
            // Two behind each other: the second may begin while the first ends.
            ASSERT_EQ(kernels->sparse_ffn(context.get(), &call), ASSAY_OK);
            expect_ok(kernels->sparse_ffn(context.get(), &call));
            if (first.empty()) first = device.y.get();
            ASSERT_EQ(std::memcmp(first.data(), device.y.get().data(), first.size() * 4), 0);
        }
    }
}

TEST_F(CudaKernels, RefusesBadCallsWithoutTouchingTheStream) {
    GemvProblem problem(ASSAY_BF16, 4, 64, 1, 1);
    DeviceGemv device(problem);
    AssayGemv call = device.call();
    call.batch = 17;
    EXPECT_EQ(kernels->gemv(context.get(), &call), ASSAY_UNSUPPORTED);
    EXPECT_STRNE(kernels->last_error(context.get()), "");
    EXPECT_EQ(kernels->gemv(context.get(), nullptr), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(kernels->gemv(nullptr, &call), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(kernels->create(0, 1 << 20, nullptr), nullptr);
    EXPECT_EQ(kernels->synchronise(context.get()), ASSAY_OK);
    EXPECT_TRUE(std::isnan(device.y.get()[0]));
}

}  // namespace
}  // namespace assay::kernels::cuda::harness
