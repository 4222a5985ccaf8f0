#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "impls/nn/files/tensor_file.hpp"
#include "tests/nn/files/grid_weights.hpp"
#include "tests/nn/files/json_memory.hpp"
#include "tests/nn/files/write_gguf.hpp"

namespace assay::nn {
namespace {

using nlohmann::json;
using testing::ElementsAre;

TEST(Gguf, EveryKindOfValue) {
    GgufWriter writer;
    writer.put("u8", std::uint8_t{255}).put("i8", std::int8_t{-128});
    writer.put("u16", std::uint16_t{65535}).put("i16", std::int16_t{-32768});
    writer.put("u32", std::uint32_t{4294967295}).put("i32", std::int32_t{-2147483647 - 1});
    writer.put("u64", std::uint64_t{18446744073709551615u}).put("i64", INT64_MIN);
    writer.put("f32", 0.1f).put("f64", 0.1).put("yes", true).put("no", false);
    writer.put("text", std::string("a\0b\n", 4)).put("empty", std::string());
    writer.put_list<std::string>("words", {"Ġt", "", "x"});
    writer.put_list<std::int32_t>("numbers", {3, -1, 2});
    writer.put_list<float>("nothing", {});
    const auto file = TensorFile::in_memory(writer.bytes());
    const json expected{{"u8", 255},
                        {"i8", -128},
                        {"u16", 65535},
                        {"i16", -32768},
                        {"u32", 4294967295u},
                        {"i32", -2147483648},
                        {"u64", 18446744073709551615u},
                        {"i64", INT64_MIN},
                        {"f32", static_cast<double>(0.1f)},
                        {"f64", 0.1},
                        {"yes", true},
                        {"no", false},
                        {"text", std::string("a\0b\n", 4)},
                        {"empty", ""},
                        {"words", {"Ġt", "", "x"}},
                        {"numbers", {3, -1, 2}},
                        {"nothing", json::array()}};
    EXPECT_EQ(file.metadata(), expected);
    EXPECT_TRUE(file.tensors().empty());
}

TEST(Gguf, ArraysOfArrays) {
    ByteString value;  // of arrays (type 9), two of them: bytes {1, 2} and strings {"a"}
    value.number(std::uint32_t{9}).number(std::uint64_t{2});
    value.number(std::uint32_t{0}).number(std::uint64_t{2}).letters("\x01\x02");
    value.number(std::uint32_t{8}).number(std::uint64_t{1}).number(std::uint64_t{1}).letters("a");
    const auto file = TensorFile::in_memory(GgufWriter().put_raw("nested", 9, value).bytes());
    EXPECT_EQ(file.metadata(), (json{{"nested", {json::binary({1, 2}, 0), {"a"}}}}));
}

TEST(Gguf, ListsOfOneByteElementsAreBytes) {
    GgufWriter writer;
    writer.put_list<std::uint8_t>("map", {0, 7, 255}).put_list<std::int8_t>("signed", {-1, 1});
    writer.put_list<std::uint8_t>("none", {});
    ByteString flags;
    flags.number(std::uint32_t{7}).number(std::uint64_t{3}).letters({"\1\0\1", 3});
    writer.put_raw("flags", 9, flags);
    const json expected{{"map", json::binary({0, 7, 255}, 0)},
                        {"signed", json::binary({255, 1}, 1)},
                        {"none", json::binary({}, 0)},
                        {"flags", json::binary({1, 0, 1}, 7)}};
    EXPECT_EQ(TensorFile::in_memory(writer.bytes()).metadata(), expected);
}

// Whatever a list holds, and if it is all that the file holds.
TEST(Gguf, ListsTakeMemoryInProportionToTheFile) {
    for (const std::uint32_t type : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u}) {
        constexpr std::size_t bytes = std::size_t{12} << 14;  // whole elements of every type
        constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};
        ByteString list;  // zeros: empty strings, empty lists of u8
        list.number(type).number(std::uint64_t{bytes / sizes[type]});
        list.bytes.resize(list.bytes.size() + bytes);
        const auto file = GgufWriter().put_raw("list", 9, list).bytes();
        EXPECT_LE(memory_of(TensorFile::in_memory(file).metadata()), 9 * file.size()) << type;
    }
}

TEST(Gguf, ShapesAreReversedAndBytesFound) {
    const auto weights = grid_weights(2 * 3 * 32, 1);
    for (const std::uint32_t version : {2u, 3u}) {
        for (const std::uint64_t alignment : {8u, 32u, 256u}) {
            GgufWriter writer;
            writer.version = version;
            writer.alignment = alignment;
            if (alignment == 8) writer.put("general.alignment", std::int32_t{8});
            if (alignment == 256) writer.put("general.alignment", std::uint32_t{256});
            writer.tensor("first", {3}, TensorType::f32,
                          stored_grid(std::span(weights).first(3), TensorType::f32));
            writer.tensor("second", {2, 3, 32}, TensorType::q4_0,
                          stored_grid(weights, TensorType::q4_0));
            writer.tensor("scalar", {}, TensorType::f32, ByteString().number(2.5f).bytes);
            const auto bytes = writer.bytes();
            const auto file = TensorFile::in_memory(bytes);
            EXPECT_EQ(file.format(), FileFormat::gguf);
            EXPECT_EQ(file.file_bytes(), bytes.size());
            ASSERT_EQ(file.tensors().size(), 3u);
            const TensorEntry* const second = file.find("second");
            ASSERT_TRUE(second);
            EXPECT_EQ(second, &file.tensors()[1]);
            EXPECT_EQ(second->type, TensorType::q4_0);
            EXPECT_THAT(second->shape, ElementsAre(2, 3, 32));
            std::vector<float> read(192);
            to_floats(*second, 0, read);
            EXPECT_EQ(read, weights);
            EXPECT_EQ(file.find("scalar")->elements(), 1);
            read.resize(1);
            to_floats(*file.find("scalar"), 0, read);
            EXPECT_EQ(read[0], 2.5f);
            EXPECT_EQ(file.find("third"), nullptr);
        }
    }
}

TEST(Gguf, ACopyKeepsTheBytes) {
    const auto weights = grid_weights(8, 2);
    auto copy = [&] {
        const auto file = TensorFile::in_memory(
            GgufWriter()
                .tensor("t", {8}, TensorType::f32, stored_grid(weights, TensorType::f32))
                .bytes());
        return TensorFile(file);
    }();
    std::vector<float> read(8);
    to_floats(copy.tensors().front(), 0, read);
    EXPECT_EQ(read, weights);
}

}  // namespace
}  // namespace assay::nn
