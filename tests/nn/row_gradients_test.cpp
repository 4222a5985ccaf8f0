// Gradients of single rows, and the file that is made of them.
#include "impls/nn/row_gradients.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "impls/nn/files/safetensors_writer.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/training/row_batch.hpp"
#include "suite/base/error.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/nn/small_decoders.hpp"

namespace assay::nn {
namespace {

TEST(RowGradients, AddUpToTheGradientOfTheBatch) {
    Decoder decoder(small_llama(), 3);
    enlarge(decoder);
    const std::vector<ScoredRow> rows{{{1, 2, 3, 4}, {false, false, true, true}},
                                      {{4, 5, 6}, {false, true, false}}};
    Maps plain;
    const auto maps = linear_maps(decoder.config());
    ASSERT_EQ(maps.size(), 14U);
    EXPECT_EQ(maps[0].name, "layer0/query");
    std::vector<at::Tensor> sums(maps.size());
    for (const ScoredRow& row : rows)
        row_gradients(decoder, plain, row, at::kFloat, [&](std::size_t map, const at::Tensor& g) {
            const auto part = g * static_cast<double>(row.scored_tokens());
            sums[map] = sums[map].defined() ? sums[map] + part : part.clone();
        });
    for (auto& block : decoder.blocks()) block->zero_grad();
    const auto batch = batch_of(rows);
    decoder.token_losses(batch.tokens, plain, batch.targets).sum().backward();
    for (std::size_t i = 0; i < maps.size(); ++i) {
        const auto& expected = decoder.parameter(maps[i].name).grad();
        EXPECT_LT(largest_difference(sums[i], expected),
                  1e-4 * (1e-3 + expected.abs().max().item<double>()))
            << maps[i].name;
    }
}

TEST(SafetensorsWriting, IsReadBackWhateverTheOrder) {
    const testing::TemporaryFolder folder;
    const auto path = folder / "rows.safetensors";
    {
        SafetensorsWriter writer(path, {{"b/gradients", {2, 3}}, {"a/target", {1, 2}}},
                                 {{"tokens", "[1,2]"}});
        const std::vector<float> last{4, 5, 6}, first{1, 2, 3}, other{7, 8};
        writer.write(0, 3, last);
        writer.write(1, 0, other);
        writer.write(0, 0, first);
        EXPECT_THROW(writer.write(1, 1, other), std::out_of_range);
        EXPECT_THROW(writer.write(2, 0, other), std::out_of_range);
        EXPECT_FALSE(std::filesystem::exists(path));  // not before it is whole
        writer.publish();
        EXPECT_EQ(std::filesystem::file_size(path), writer.bytes());
    }
    const TensorFile file(path);
    ASSERT_EQ(file.tensors().size(), 2U);
    EXPECT_EQ(file.tensors()[0].name, "b/gradients");  // as they lie
    EXPECT_EQ(file.metadata().at("metadata").at("tokens"), "[1,2]");
    std::vector<float> values(6);
    to_floats(file.tensors()[0], 0, values);
    EXPECT_EQ(values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(SafetensorsWriting, LeavesNothingWhereItIsGivenUp) {
    const testing::TemporaryFolder folder;
    const auto path = folder / "rows.safetensors";
    { SafetensorsWriter writer(path, {{"a", {1}}}, {}); }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    EXPECT_THROW(SafetensorsWriter(folder / "no/where", {{"a", {1}}}, {}), UserError);
}

}  // namespace
}  // namespace assay::nn
