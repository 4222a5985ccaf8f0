// From a folder as Hugging Face publishes models, and complaints that name the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/text/chat.hpp"
#include "suite/base/error.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/nn/text/golden_files.hpp"

namespace assay::nn {
namespace {

using ::testing::HasSubstr;
using namespace testing;

class ModelFolder : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string header = R"({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})";
        header.resize(72, ' ');
        std::string size(8, '\0');
        size[0] = static_cast<char>(header.size());
        write("model.safetensors", size + header + std::string(4, '\0'));
        write("config.json", R"({"eos_token_id": 2, "bos_token_id": 1})");
    }
    void write(const char* name, const std::string& text) {
        std::ofstream(folder / name, std::ios::binary) << text;
    }
    TensorFile file() const { return TensorFile(folder.path()); }

    TemporaryFolder folder;
};

TEST_F(ModelFolder, TokenizerAndTemplate) {
    write("tokenizer.json", golden_json("small_tokenizer.json").dump());
    const nlohmann::json chat = golden_json("chat_prompts.json").front()["template"];
    write("tokenizer_config.json",
          nlohmann::json{{"eos_token", "<|endoftext|>"}, {"chat_template", chat}}.dump());
    const Tokenizer tokenizer = Tokenizer::of(file());
    EXPECT_EQ(tokenizer.size(), 480);
    EXPECT_EQ(tokenizer.end_of_text(), 0) << "by name, which is more than config.json's id";
    EXPECT_EQ(tokenizer.start_of_text(), 1);
    expect_golden_ids(tokenizer, "small_gpt2_ids.json");
    EXPECT_THAT(chat_default_system(file()).value_or(""), HasSubstr("SmolLM"));
}

TEST_F(ModelFolder, AllIdsThatEndATextAreRead) {
    const auto ends = [&](const Tokenizer* tokenizer) { return text_ends(file(), tokenizer, 480); };
    write("config.json", R"({"eos_token_id": [258, 257]})");
    EXPECT_EQ(ends(nullptr), (std::vector<int>{258, 257})) << "without a tokenizer too";
    write("generation_config.json", R"({"eos_token_id": [257, 300, 480]})");
    write("tokenizer.json", golden_json("small_tokenizer.json").dump());
    const Tokenizer tokenizer = Tokenizer::of(file());
    EXPECT_EQ(tokenizer.end_of_text(), 258);
    const std::vector<int> found = ends(&tokenizer);
    for (const int id : {257, 258, 300})
        EXPECT_TRUE(std::binary_search(found.begin(), found.end(), id)) << id;
    EXPECT_LT(found.back(), 480) << "ids that the model does not have are of no use";
    write("generation_config.json", R"({"eos_token_id": "257"})");
    EXPECT_THROW(Tokenizer::of(file()), UserError);
    try {
        ends(nullptr);
        FAIL() << "accepted";
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr(folder.path().string() + ": "));
    }
}

TEST_F(ModelFolder, WithoutTokenizerOrTemplate) {
    EXPECT_EQ(chat_default_system(file()), std::nullopt);
    try {
        Tokenizer::of(file());
        FAIL() << "accepted";
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("no tokenizer.json"));
        EXPECT_THAT(error.what(), HasSubstr(folder.path().string()));
    }
}

}  // namespace
}  // namespace assay::nn
