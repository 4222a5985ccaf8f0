#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "impls/nn/files/tensor_file.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/files/grid_weights.hpp"
#include "tests/nn/files/write_safetensors.hpp"

namespace assay::nn {
namespace {

using nlohmann::json;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

std::vector<std::byte> bytes_of(std::size_t count) { return std::vector<std::byte>(count); }

SafetensorsWriter small() {
    SafetensorsWriter writer;
    writer.tensor("b", {2, 3}, "BF16", stored_grid(grid_weights(6, 1), TensorType::bf16));
    writer.tensor("a", {4}, "F32", stored_grid(grid_weights(4, 2), TensorType::f32));
    writer.tensor("c", {1, 1, 2}, "F16", stored_grid(grid_weights(2, 3), TensorType::f16));
    writer.header["__metadata__"] = {{"format", "pt"}};
    return writer;
}

std::string verdict(std::vector<std::byte> bytes) {
    try {
        TensorFile::in_memory(std::move(bytes), "model.safetensors");
        return "accepted";
    } catch (const UserError& error) {
        return error.what();
    }
}

std::string changed(const std::function<void(SafetensorsWriter&)>& change) {
    SafetensorsWriter writer = small();
    change(writer);
    return verdict(writer.bytes());
}

TEST(Safetensors, ValuesShapesAndMetadata) {
    const auto bytes = small().bytes();
    const auto file = TensorFile::in_memory(bytes);
    EXPECT_EQ(file.format(), FileFormat::safetensors);
    EXPECT_EQ(file.file_bytes(), bytes.size());
    EXPECT_EQ(file.metadata(), (json{{"metadata", {{"format", "pt"}}}}));
    ASSERT_EQ(file.tensors().size(), 3u);
    std::vector<float> read(6);
    to_floats(*file.find("b"), 0, read);
    EXPECT_EQ(read, grid_weights(6, 1));
    EXPECT_THAT(file.find("b")->shape, ElementsAre(2, 3));
    read.resize(4);
    to_floats(*file.find("a"), 0, read);
    EXPECT_EQ(read, grid_weights(4, 2));
    read.resize(2);
    to_floats(*file.find("c"), 0, read);
    EXPECT_EQ(read, grid_weights(2, 3));
}

TEST(Safetensors, ScalarsEmptyTensorsAndPaddedHeaders) {
    SafetensorsWriter writer;
    writer.tensor("none", {0, 5}, "F32", {}).tensor("one", {}, "F32", bytes_of(4));
    writer.tensor("nothing", {3, 0}, "F16", {});
    const auto file =
        TensorFile::in_memory(safetensors_bytes(writer.header.dump() + "   ", writer.data));
    EXPECT_EQ(file.find("none")->elements(), 0);
    EXPECT_EQ(file.find("one")->elements(), 1);
    EXPECT_THAT(file.find("nothing")->shape, ElementsAre(3, 0));
}

TEST(Safetensors, IntegersArePassedOver) {
    SafetensorsWriter writer = small();
    writer.tensor("mask", {4, 4}, "BOOL", bytes_of(16)).tensor("ids", {2}, "I64", bytes_of(16));
    const auto file = TensorFile::in_memory(writer.bytes());
    EXPECT_EQ(file.tensors().size(), 3u);
    EXPECT_EQ(file.find("mask"), nullptr);
    EXPECT_THAT([&] { file.require("ids", std::vector<std::int64_t>{2}); },
                ThrowsMessage<UserError>(HasSubstr("\"ids\" is stored as I64; F32, F16 and BF16")));
    EXPECT_THAT([&] { file.require("idz", std::vector<std::int64_t>{2}); },
                ThrowsMessage<UserError>(HasSubstr("\"idz\" is missing")));
}

TEST(SafetensorsMalformed, CutOffAtEveryByte) {
    const auto whole = small().bytes();
    ASSERT_EQ(verdict(whole), "accepted");
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_THAT(verdict({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}),
                    StartsWith("model.safetensors: "))
            << size;
}

TEST(SafetensorsMalformed, EveryByteChanged) {
    const auto whole = small().bytes();
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const int value : {0x00, 0x22, 0x2c, 0x39, 0x7b, 0x7d, 0xff}) {
            auto bytes = whole;
            bytes[at] = static_cast<std::byte>(value);
            EXPECT_THAT(verdict(std::move(bytes)),
                        AnyOf("accepted", StartsWith("model.safetensors: ")));
        }
    }
}

TEST(SafetensorsMalformed, Header) {
    const auto of = [](std::string_view header) { return verdict(safetensors_bytes(header, {})); };
    EXPECT_EQ(of("{}"), "accepted");
    EXPECT_THAT(of("[]"), HasSubstr("neither a GGUF nor a safetensors file"));
    EXPECT_THAT(of("{]"), HasSubstr("its header:1:2: not valid JSON"));
    EXPECT_THAT(of("{\"a\": 1e999}"), HasSubstr("the number 1e999 is too large"));
    EXPECT_THAT(of("{\"\xff\": 1}"), HasSubstr("not valid JSON"));
    EXPECT_THAT(of("{\"a\": 1}"), HasSubstr("\"a\" is no tensor"));
    EXPECT_THAT(of(R"({"a": {}, "a": {}})"), HasSubstr("the key \"a\" is given twice"));
    EXPECT_THAT(of("{\"a\":" + std::string(100000, '[')), HasSubstr("nested too deeply"));
    ByteString huge;
    huge.number(UINT64_MAX).letters("{}");
    EXPECT_THAT(verdict(huge.bytes), HasSubstr("neither a GGUF nor a safetensors file"));
}

TEST(SafetensorsMalformed, Tensors) {
    EXPECT_THAT(changed([](auto& w) { w.header["a"].erase("dtype"); }),
                HasSubstr("tensor \"a\" has no \"dtype\""));
    EXPECT_THAT(changed([](auto& w) { w.header["a"]["dtype"] = "F64"; }),
                HasSubstr("tensor \"a\" has the type \"F64\"; F32, F16 and BF16 are read"));
    EXPECT_THAT(changed([](auto& w) { w.header["a"]["dtype"] = 3; }), HasSubstr("no \"dtype\""));
    EXPECT_THAT(changed([](auto& w) { w.header["a"].erase("shape"); }),
                HasSubstr("tensor \"a\" has no list \"shape\""));
    for (const json& extent : {json(-1), json(1.5), json("4"), json(nullptr),
                               json(18446744073709551615u), json::array({4})})
        EXPECT_THAT(changed([&](auto& w) { w.header["a"]["shape"] = json::array({extent}); }),
                    HasSubstr("\"shape\" of tensor \"a\" holds what is no size"));
    EXPECT_THAT(changed([](auto& w) { w.header["a"]["shape"] = {5}; }),
                HasSubstr("tensor \"a\" has 16 bytes, its shape [5] and type F32 need 20"));
    // What is passed over is checked like what is read.
    for (const auto& [type, size] : {std::pair{"BOOL", 1}, std::pair{"U8", 1}, std::pair{"I16", 2},
                                     std::pair{"U32", 4}, std::pair{"I64", 8}}) {
        const auto with = [&, type = type, size = size](std::int64_t extent) {
            return changed([&](auto& w) {
                w.tensor("ids", {2}, type, bytes_of(static_cast<std::size_t>(2 * size)));
                w.header["ids"]["shape"] = {extent};
            });
        };
        EXPECT_EQ(with(2), "accepted") << type;
        for (const std::int64_t wrong : {0, 1, 3, 100})
            EXPECT_THAT(with(wrong), HasSubstr(fmt::format(
                                         "tensor \"ids\" has {} bytes, its shape [{}] and type "
                                         "{} need {}",
                                         2 * size, wrong, type, wrong * size)));
        EXPECT_THAT(with(std::int64_t{1} << 62), HasSubstr("is larger than the file"));
    }
    const std::int64_t large = std::int64_t{1} << 62;
    EXPECT_THAT(changed([&](auto& w) { w.header["a"]["shape"] = {large}; }),
                HasSubstr("is larger than the file"));
    EXPECT_THAT(changed([&](auto& w) {
                    w.header["a"]["shape"] = {large, large, large};
                }),
                HasSubstr("is larger than the file"));
    for (const json& offsets : {json{16, 0}, json{0}, json{0, 4, 8}, json{{"begin", 0}}})
        EXPECT_THAT(changed([&](auto& w) { w.header["a"]["data_offsets"] = offsets; }),
                    HasSubstr("\"data_offsets\""));
    EXPECT_THAT(changed([](auto& w) {
                    w.header["a"]["data_offsets"] = {8, 28};
                }),
                HasSubstr("begins at byte 8 of the data, where 12 was expected: tensors overlap"));
    EXPECT_THAT(changed([](auto& w) { w.header.erase("a"); }),
                HasSubstr("begins at byte 28 of the data, where 12 was expected: tensors leave"));
    EXPECT_THAT(changed([](auto& w) {
                    w.header["c"]["data_offsets"] = {28, 1000000};
                }),
                HasSubstr("need 1000000 bytes, it holds 32"));
    EXPECT_THAT(changed([](auto& w) {
                    w.header["c"]["data_offsets"] = {28, INT64_MAX};
                }),
                HasSubstr("cut off or damaged"));
    EXPECT_THAT(changed([](auto& w) { w.data.resize(40); }),
                HasSubstr("8 bytes behind the last tensor"));
}

}  // namespace
}  // namespace assay::nn
