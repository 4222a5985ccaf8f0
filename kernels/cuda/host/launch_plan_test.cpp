// Plans of launches: what must hold for every shape, and the sizes of known ones.
#include "kernels/cuda/host/launch_plan.hpp"

#include <gtest/gtest.h>

#include <random>

namespace assay::kernels::cuda {
namespace {

constexpr Device h200{132};
constexpr std::size_t block_memory_of_sm_80 = 164 * 1024 - 1024;

AssayFfn network(int width, int experts, int expert_size, AssayType type = ASSAY_BF16) {
    AssayFfn ffn{};
    ffn.width = width;
    ffn.experts = experts;
    ffn.expert_size = expert_size;
    ffn.type = type;
    return ffn;
}

TEST(LaunchPlan, ReadsWideOnlyWhereEveryRowIsAligned) {
    const auto at = [](std::uintptr_t address) { return reinterpret_cast<const void*>(address); };
    EXPECT_EQ(access_to(ASSAY_BF16, 8192, {at(256), at(512)}), Access::wide);
    EXPECT_EQ(access_to(ASSAY_BF16, 8192, {at(256), at(520)}), Access::single);
    EXPECT_EQ(access_to(ASSAY_BF16, 8190, {at(256)}), Access::single);
    EXPECT_EQ(access_to(ASSAY_F32, 16, {at(16), nullptr}), Access::wide);
    EXPECT_EQ(access_to(ASSAY_Q4_0, 18 * 8, {at(16)}), Access::quantised);
}

TEST(LaunchPlan, ServesEveryTokenOnce) {
    for (const Access access : {Access::wide, Access::single, Access::quantised})
        for (int batch = 1; batch <= largest_batch; ++batch) {
            const int tokens = tokens_per_pass(access, batch);
            EXPECT_GE(tokens * passes(tokens, batch), batch);
            EXPECT_LT(tokens * (passes(tokens, batch) - 1), batch);
            EXPECT_TRUE(access != Access::wide || passes(tokens, batch) == 1);
        }
    EXPECT_EQ(tokens_per_pass(Access::wide, 1), 1);
    EXPECT_EQ(tokens_per_pass(Access::wide, 3), 4);
    EXPECT_EQ(tokens_per_pass(Access::wide, 9), 16);
    EXPECT_EQ(tokens_per_pass(Access::quantised, 16), 4);
}

TEST(LaunchPlan, TilesOfXFitBlockMemoryAndWholeBlocksOfWeights) {
    for (const int tokens : {1, 4, 8, 16})
        for (const int columns : {1, 31, 32, 576, 4096, 11008, 16384, 16385, 1 << 30}) {
            const int tile = tile_columns(columns, tokens);
            EXPECT_EQ(tile % 32, 0);
            EXPECT_GE(tile, 32);
            EXPECT_LT(tile, columns + 32);
            const Launch launch = rows_launch(h200, 1000, columns, tokens, tokens);
            // One token's warps may share rows: two matrices' sums of each thread.
            const std::size_t shared = tokens == 1 ? 2 * rows_threads * sizeof(float) : 0;
            EXPECT_EQ(launch.memory_bytes, shared + static_cast<std::size_t>(tile) * sizeof(float) *
                                                        static_cast<std::size_t>(tokens));
            EXPECT_GE(launch.memory_bytes, sizeof(int) * rows_warps);  // the router's counts
            EXPECT_LE(launch.memory_bytes *
                          static_cast<std::size_t>(rows_blocks_per_multiprocessor(tokens)),
                      block_memory_of_sm_80);
        }
}

TEST(LaunchPlan, RowsFillTheDeviceOnceOrGetABlockEach) {
    EXPECT_EQ(rows_launch(h200, 11008, 4096, 1, 1).x, 264);
    EXPECT_EQ(rows_launch(h200, 344, 4096, 1, 1).x, 264);
    EXPECT_EQ(rows_launch(h200, 7, 4096, 1, 1).x, 7);
    EXPECT_EQ(rows_launch(h200, 7, 4096, 16, 16).x, 4);
    EXPECT_EQ(rows_launch(h200, 11008, 4096, 16, 16).x, 132);
    EXPECT_EQ(rows_launch(h200, 100, 37, 4, 13).y, 4);
    EXPECT_EQ(rows_launch(Device{0}, 10, 8, 1, 1).x, 1);  // a device that tells nothing
}

TEST(LaunchPlan, TilesAreForBf16AndMoreThanFourTokens) {
    EXPECT_TRUE(tiles(h200, ASSAY_BF16, Access::wide, 5));
    EXPECT_FALSE(tiles(h200, ASSAY_BF16, Access::wide, 4));
    EXPECT_FALSE(tiles(h200, ASSAY_BF16, Access::single, 16));
    EXPECT_FALSE(tiles(h200, ASSAY_F16, Access::wide, 16));

    EXPECT_EQ(rows_tiles_launch(h200, 100).x, 13);
    const Launch rows = rows_tiles_launch(h200, 11008);
    EXPECT_EQ(rows.x, 132);
    EXPECT_EQ(rows.memory_bytes, 48u * 1024u);  // what a block may have unasked
    std::mt19937_64 random(1);
    for (int round = 0; round < 500; ++round) {
        const AssayFfn ffn =
            network(8 * (1 + static_cast<int>(random() % 2500)),
                    1 + static_cast<int>(random() % 500), 1 + static_cast<int>(random() % 64));
        const int batch = 5 + static_cast<int>(random() % 12);
        const Launch down = down_tiles_launch(Device{1 + static_cast<int>(random() % 300)}, ffn);
        EXPECT_GE(down.x * 256, ffn.width);
        EXPECT_LE(down.memory_bytes, block_memory_of_sm_80 / 2);
        if (down.y > 1) {
            const WorkspaceLayout layout = workspace_layout(ffn, batch);
            EXPECT_LE(static_cast<std::size_t>(down.y * batch) *
                          static_cast<std::size_t>(ffn.width) * sizeof(float),
                      layout.bytes - layout.sums);
        }
    }
}

TEST(LaunchPlan, DownCoversEveryColumnAndFillsTheDevice) {
    const AssayFfn llama = network(4096, 344, 32);
    const Launch launch = down_launch(h200, llama, Access::wide, 1, 1);
    EXPECT_EQ(launch.x, 16);
    EXPECT_EQ(launch.y, 33);  // 528 blocks: four on each multiprocessor
    EXPECT_EQ(launch.threads, 256);
    EXPECT_EQ(launch.memory_bytes, 8u * 256u * sizeof(float));
    EXPECT_EQ(down_launch(h200, network(4096, 1, 3), Access::wide, 1, 1).y, 1);
    EXPECT_EQ(slab_columns(ASSAY_F32, Access::wide), 128);
    EXPECT_EQ(slab_columns(ASSAY_F16, Access::wide), 256);
    EXPECT_EQ(slab_columns(ASSAY_F16, Access::single), 32);

    std::mt19937_64 random(1);
    for (int round = 0; round < 500; ++round) {
        const auto type = static_cast<AssayType>(round % 3);
        const auto access = round % 2 == 0 ? Access::wide : Access::single;
        const AssayFfn ffn =
            network(1 + static_cast<int>(random() % 20000), 1 + static_cast<int>(random() % 500),
                    1 + static_cast<int>(random() % 64), type);
        const int batch = 1 + static_cast<int>(random() % largest_batch);
        const int tokens = tokens_per_pass(access, batch);
        const Device device{1 + static_cast<int>(random() % 300)};
        const Launch plan = down_launch(device, ffn, access, tokens, batch);
        const int columns = slab_columns(type, access);
        EXPECT_GE(plan.x * columns, ffn.width);
        EXPECT_LT((plan.x - 1) * columns, ffn.width);
        EXPECT_LE(columns, down_threads);  // a thread to each column in the end
        EXPECT_LE(plan.x * plan.z, counters);
        // The workspace holds what any device writes.
        const WorkspaceLayout layout = workspace_layout(ffn, batch);
        const std::size_t pairs = static_cast<std::size_t>(ffn.experts) *
                                  static_cast<std::size_t>(ffn.expert_size) *
                                  static_cast<std::size_t>(batch);
        EXPECT_GE(layout.tokens - layout.activations, pairs * sizeof(float));
        EXPECT_GE(layout.sums - layout.tokens, static_cast<std::size_t>(ffn.experts) * 4);
        const std::size_t sums = plan.y == 1 ? 0 : static_cast<std::size_t>(plan.y);
        EXPECT_GE(layout.bytes - layout.sums, sizeof(float) * sums *
                                                  static_cast<std::size_t>(batch) *
                                                  static_cast<std::size_t>(ffn.width));
        for (const std::size_t offset : {layout.activations, layout.tokens, layout.sums})
            EXPECT_EQ(offset % 64, 0u);
    }
}

}  // namespace
}  // namespace assay::kernels::cuda
