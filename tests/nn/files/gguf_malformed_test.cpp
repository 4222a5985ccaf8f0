// Whatever is wrong with a GGUF file is a UserError that says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "impls/nn/files/tensor_file.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/files/grid_weights.hpp"
#include "tests/nn/files/write_gguf.hpp"

namespace assay::nn {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string verdict(std::vector<std::byte> bytes) {
    try {
        TensorFile::in_memory(std::move(bytes), "model.gguf");
        return "accepted";
    } catch (const UserError& error) {
        return error.what();
    }
}

GgufWriter small() {
    GgufWriter writer;
    writer.put("general.architecture", std::string("llama")).put("llama.block_count", 2u);
    writer.put_list<std::string>("tokens", {"a", "bc"});
    writer.tensor("norm", {3}, TensorType::f32, stored_grid(grid_weights(3, 1), TensorType::f32));
    writer.tensor("up", {2, 32}, TensorType::q4_1,
                  stored_grid(grid_weights(64, 2), TensorType::q4_1));
    return writer;
}

std::string changed(const std::function<void(GgufWriter&)>& change) {
    GgufWriter writer = small();
    change(writer);
    return verdict(writer.bytes());
}

TEST(GgufMalformed, TheUnchangedFileIsAccepted) {
    EXPECT_EQ(changed([](GgufWriter&) {}), "accepted");
}

TEST(GgufMalformed, CutOffAtEveryByte) {
    const auto whole = small().bytes();
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_THAT(verdict({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}),
                    StartsWith("model.gguf: "))
            << size;
}

TEST(GgufMalformed, EveryByteChanged) {
    const auto whole = small().bytes();
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const int value : {0x00, 0x01, 0x09, 0x7f, 0x80, 0xff}) {
            auto bytes = whole;
            bytes[at] = static_cast<std::byte>(value);
            EXPECT_THAT(verdict(std::move(bytes)),
                        testing::AnyOf("accepted", StartsWith("model.gguf: ")));
        }
    }
}

// Any eight bytes may be a count, a length, an extent or an offset: none may lead to an overflow or
// to memory for what is not there.
TEST(GgufMalformed, HugeNumbersEverywhere) {
    const auto whole = small().bytes();
    for (std::size_t at = 4; at + 8 <= whole.size(); ++at) {
        for (const std::uint64_t value :
             {UINT64_MAX, UINT64_MAX - 31, std::uint64_t{1} << 63, std::uint64_t{1} << 62,
              std::uint64_t{1} << 40, std::uint64_t{1} << 32, std::uint64_t{1} << 16}) {
            auto bytes = whole;
            std::memcpy(bytes.data() + at, &value, sizeof value);
            EXPECT_THAT(verdict(std::move(bytes)),
                        testing::AnyOf("accepted", StartsWith("model.gguf: ")));
        }
    }
}

TEST(GgufMalformed, Header) {
    EXPECT_THAT(verdict({}), HasSubstr("neither a GGUF nor a safetensors file"));
    EXPECT_THAT(verdict(ByteString().letters("GGML, but long enough").bytes),
                HasSubstr("neither a GGUF nor a safetensors file"));
    EXPECT_THAT(changed([](auto& w) { w.version = 1; }), HasSubstr("GGUF version 1; versions 2"));
    EXPECT_THAT(changed([](auto& w) { w.version = 4; }), HasSubstr("GGUF version 4"));
    EXPECT_THAT(changed([](auto& w) { w.version = 0x03000000; }), HasSubstr("big-endian"));
    EXPECT_THAT(
        changed([](auto& w) { w.tensor_count_change = 1000; }),
        HasSubstr("the number of tensors is 1002, more than the rest of the file can hold"));
    EXPECT_THAT(changed([](auto& w) { w.pair_count_change = -1 - 3; }),
                HasSubstr("the number of metadata values is 18446744073709551615, more"));
    EXPECT_NE(changed([](auto& w) { w.pair_count_change = 1; }), "accepted");
    EXPECT_NE(changed([](auto& w) { w.pair_count_change = -1; }), "accepted");
}

TEST(GgufMalformed, Metadata) {
    EXPECT_THAT(changed([](auto& w) { w.put("llama.block_count", 3u); }),
                HasSubstr("\"llama.block_count\" is given twice"));
    EXPECT_THAT(changed([](auto& w) { w.put_raw("x", 13, ByteString().letters("12345678")); }),
                HasSubstr("\"x\" has the value type 13, which GGUF does not define"));
    EXPECT_THAT(changed([](auto& w) { w.put_raw("x", 7, ByteString().letters("\x02")); }),
                HasSubstr("\"x\" is a truth value of 2"));
    ByteString flags;
    flags.number(std::uint32_t{7}).number(std::uint64_t{2}).letters("\x01\x02");
    EXPECT_THAT(changed([&](auto& w) { w.put_raw("x", 9, flags); }),
                HasSubstr("\"x\" holds a truth value that is not 0 or 1"));
    for (const auto& [number, text] :
         {std::pair{48, "48"}, std::pair{0, "0"}, std::pair{-32, "-32"}})
        EXPECT_THAT(changed([&](auto& w) { w.put("general.alignment", std::int32_t{number}); }),
                    HasSubstr(std::string("general.alignment is ") + text + ", no power of two"));
    EXPECT_THAT(changed([](auto& w) { w.put("general.alignment", std::string("32")); }),
                HasSubstr("general.alignment is the text \"32\", no whole number"));
    EXPECT_THAT(changed([](auto& w) { w.put("general.alignment", 32.0f); }),
                HasSubstr("general.alignment is the decimal number 32.0, no whole number"));
    EXPECT_THAT(changed([](auto& w) { w.put("general.alignment", 1u << 31); }),
                HasSubstr("ends before the data"));
    ByteString deep;
    for (int level = 0; level < 100000; ++level)
        deep.number(std::uint32_t{9}).number(std::uint64_t{1});
    EXPECT_THAT(changed([&](auto& w) { w.put_raw("deep", 9, deep); }),
                HasSubstr("\"deep\" has arrays nested too deeply"));
    // Eight strings of a length that only together exceed the file.
    ByteString list;
    list.number(std::uint32_t{8}).number(std::uint64_t{1} << 60);
    EXPECT_THAT(
        changed([&](auto& w) { w.put_raw("list", 9, list); }),
        HasSubstr("the length of the metadata value \"list\" is 1152921504606846976, more"));
}

TEST(GgufMalformed, Tensors) {
    EXPECT_THAT(changed([](auto& w) { w.tensors[1].name = "norm"; }),
                HasSubstr("two tensors are named \"norm\""));
    EXPECT_THAT(
        changed([](auto& w) { w.tensors[1].type = 12; }),
        AllOf(HasSubstr("tensor \"up\" has the type Q4_K"), HasSubstr("convert the model")));
    EXPECT_THAT(changed([](auto& w) { w.tensors[1].type = 4; }), HasSubstr("the type number 4"));
    EXPECT_THAT(changed([](auto& w) { w.tensors[1].type = 4000; }), HasSubstr("number 4000"));
    EXPECT_THAT(changed([](auto& w) {
                    w.tensors[1].shape = {64, 1};
                }),
                HasSubstr("[64, 1] is stored as q4_1, which needs rows of a multiple of 32"));
    EXPECT_THAT(changed([](auto& w) {
                    w.tensors[1].shape = {4, 32};
                }),
                HasSubstr("tensor \"up\" reaches beyond the end of the file"));
    EXPECT_THAT(changed([](auto& w) {
                    w.tensors[1].shape = {1, 1, 1, 1, 64};
                }),
                HasSubstr("\"up\" has 5 dimensions; GGUF allows 4"));
    EXPECT_THAT(changed([](auto& w) {
                    w.tensors[1].shape = {-1, 32};
                }),
                HasSubstr("\"up\" has an impossible extent"));
    EXPECT_THAT(changed([](auto& w) {
                    w.tensors[1].shape = {std::int64_t{1} << 40, 1 << 30};
                }),
                HasSubstr("is larger than the file"));
    EXPECT_THAT(changed([](auto& w) {
                    w.tensors[1].shape = {std::int64_t{1} << 32, std::int64_t{1} << 32};
                }),
                HasSubstr("is larger than the file"));
    EXPECT_THAT(changed([](auto& w) { w.tensors[1].offset_change = 4; }),
                HasSubstr("tensor \"up\" lies at offset 36, no multiple of 32"));
    EXPECT_THAT(changed([](auto& w) { w.tensors[1].offset_change = -32; }),
                HasSubstr("the tensors \"norm\" and \"up\" overlap"));
    EXPECT_THAT(changed([](auto& w) { w.tensors[1].offset_change = -64; }),
                HasSubstr("beyond the end of the file"));
    EXPECT_THAT(changed([](auto& w) { w.tensors[0].offset_change = 32; }), HasSubstr("overlap"));
}

TEST(GgufMalformed, NamesAreShownSafely) {
    EXPECT_THAT(changed([](auto& w) {
                    w.tensors[1].name = "\x1b[2J\n" + std::string(500, 'x');
                    w.tensors[1].type = 99;
                }),
                AllOf(HasSubstr(R"(\x1b[2J\x0a)"), Not(HasSubstr(std::string(100, 'x')))));
}

}  // namespace
}  // namespace assay::nn
