// What is written is what is read.
#include "impls/nn/files/gguf_writer.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "impls/nn/files/tensor_file.hpp"
#include "suite/base/error.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::nn {
namespace {

TEST(GgufWriter, KeepsMetadataAndTensors) {
    const assay::testing::TemporaryFolder folder;
    const auto path = folder / "model.gguf";
    const nlohmann::json metadata{{"flag", true},
                                  {"text", std::string("a\0b\xff", 4)},
                                  {"whole", 4096},
                                  {"negative", -3},
                                  {"large", std::int64_t{1} << 40},
                                  {"fraction", 0.25},
                                  {"none", nlohmann::json::array()},
                                  {"texts", {"x", ""}},
                                  {"types", {1, -1, 3}},
                                  {"mixed", {1, 0.5}},
                                  {"bytes", nlohmann::json::binary({0, 255}, 0)},
                                  {"flags", nlohmann::json::binary({1, 0, 1}, 7)}};
    const std::vector<float> values{1, -2, 0.5F, 1e-9F, 3, 4};
    const std::vector<TensorToWrite> tensors{
        {"odd", TensorType::bf16, {3}, stored_as(TensorType::bf16, std::span(values).first(3))},
        {"matrix", TensorType::f32, {2, 3}, stored_as(TensorType::f32, values)}};
    write_gguf(path, metadata, tensors);
    const TensorFile file(path);
    EXPECT_EQ(file.metadata(), metadata);
    ASSERT_EQ(file.tensors().size(), 2u);
    std::vector<float> read(6);
    to_floats(file.require("matrix", std::vector<std::int64_t>{2, 3}), 0, read);
    EXPECT_EQ(read, values);
    read.resize(3);
    to_floats(file.require("odd", std::vector<std::int64_t>{3}), 0, read);
    EXPECT_EQ(read, (std::vector<float>{1, -2, 0.5F}));
    EXPECT_FALSE(std::filesystem::exists(folder / "model.gguf.part"));
}

TEST(GgufWriter, SaysWhereItMayNotWrite) {
    try {
        write_gguf("/nowhere/model.gguf", nlohmann::json::object(), {});
        ADD_FAILURE() << "written";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("/nowhere/model.gguf"), std::string::npos);
    }
}

}  // namespace
}  // namespace assay::nn
