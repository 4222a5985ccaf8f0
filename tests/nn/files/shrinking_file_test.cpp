// Files that another process makes shorter while they are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "impls/nn/files/gguf.hpp"
#include "impls/nn/files/parameter_source.hpp"
#include "impls/nn/files/safetensors.hpp"
#include "impls/nn/files/untrusted_file.hpp"
#include "suite/base/error.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/nn/files/toy_gguf.hpp"
#include "tests/nn/files/toy_hugging_face.hpp"

namespace assay::nn {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

class ShrinkingFile : public ::testing::Test {
  protected:
    auto refuses() const {
        return ThrowsMessage<UserError>(AllOf(StartsWith(path_.string() + ": "),
                                              HasSubstr("became shorter while it was read")));
    }

    const ToyModel model_ = toy_model(toy_llama_config());
    const std::vector<std::byte> gguf_ = gguf_of(model_).bytes();
    const std::vector<std::byte> safetensors_ = hugging_face_of(model_).tensors.bytes();
    const assay::testing::TemporaryFolder folder_;
    const fs::path path_ = folder_ / "model";
};

TEST_F(ShrinkingFile, InItsHeader) {
    const auto parse_after_cut = [&](const std::vector<std::byte>& bytes, std::size_t cut,
                                     auto parse) {
        write_bytes(path_, bytes);
        const UntrustedFile file(path_);
        fs::resize_file(path_, cut);
        EXPECT_THAT([&] { parse(file); }, refuses()) << cut;
    };
    for (const std::size_t cut : {0, 3, 4, 16, 100, 1000})
        parse_after_cut(gguf_, cut, [](const auto& file) { parse_gguf(file); });
    for (const std::size_t cut : {0, 7, 8, 9, 1000})
        parse_after_cut(safetensors_, cut, [](const auto& file) { parse_safetensors(file); });
}

TEST_F(ShrinkingFile, BetweenOpeningAndReading) {
    for (const auto& bytes : {gguf_, safetensors_}) {
        write_bytes(path_, bytes);
        const TensorFile file(path_);
        fs::resize_file(path_, 0);
        for (const TensorEntry& tensor : file.tensors()) {
            std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
            EXPECT_THAT([&] { to_floats(tensor, 0, values); }, refuses()) << tensor.name;
            std::vector<std::byte> stored(tensor.bytes);
            EXPECT_THAT([&] { read_bytes(tensor, 0, stored); }, refuses()) << tensor.name;
        }
    }
}

// What is before the new end still has its values; a tensor that reaches beyond it has none.
TEST_F(ShrinkingFile, InTheMiddleOfATensor) {
    write_bytes(path_, gguf_);
    const TensorFile file(path_), whole = TensorFile::in_memory(gguf_);
    const TensorEntry& tensor = *file.find("token_embd.weight");
    const std::int64_t half = tensor.elements() / 2;
    std::vector<float> all(static_cast<std::size_t>(2 * half)), read(all.size(), 99);
    to_floats(*whole.find(tensor.name), 0, all);

    const std::span<float> first(read.data(), all.size() / 2);
    const std::span<float> second(read.data() + first.size(), first.size());
    to_floats(tensor, 0, first);
    fs::resize_file(path_, tensor.offset + stored_bytes(tensor.type, half));
    EXPECT_THAT([&] { to_floats(tensor, half, second); }, refuses());
    to_floats(tensor, 0, first);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin()));

    fs::resize_file(path_, tensor.offset + stored_bytes(tensor.type, half) + 1);
    EXPECT_THAT([&] { to_floats(tensor, 0, read); }, refuses());
    write_bytes(path_, gguf_);
    to_floats(tensor, 0, read);
    EXPECT_EQ(read, all);
}

TEST_F(ShrinkingFile, AsParameters) {
    write_bytes(path_, gguf_);
    const TensorFile file(path_);
    fs::resize_file(path_, fs::file_size(path_) - 1);
    int refused = 0;
    for (const auto& [name, values] : model_.parameters) {
        std::vector<float> read(values.size());
        try {
            read_parameter(file, model_.config, name, read);
            EXPECT_EQ(read, values) << name;
        } catch (const UserError&) {
            ++refused;
        }
    }
    EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace assay::nn
