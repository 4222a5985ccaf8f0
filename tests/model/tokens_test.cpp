// assay model tokenize and detokenize.
#include "tests/model/model_program.hpp"

namespace assay::model {
namespace {

class ModelTokens : public ModelProgram {};

TEST_F(ModelTokens, ThereAndBack) {
    const std::string text = "Hi <|im_end|>\n";
    const nlohmann::json result = assay_json({"model", "tokenize", file, "--prompt", text});
    EXPECT_EQ(result["ids"], std::vector<int>(text.begin(), text.end())) << "text is text";
    ASSERT_EQ(result["tokens"].size(), text.size());
    EXPECT_EQ(result["tokens"][2], " ");
    const testing::Printed ids = assay({"model", "tokenize", file, "--prompt", "Hi!"});
    EXPECT_EQ(ids.out, "72,105,33\n");
    EXPECT_EQ(assay({"model", "detokenize", file, "--ids", "72,105,33"}).out, "Hi!\n");
    EXPECT_EQ(assay_json({"model", "detokenize", file, "--ids", "72,258"}),
              (nlohmann::json{{"ids", {72, 258}}, {"text", "H<|im_end|>"}}));
    EXPECT_EQ(assay({"model", "tokenize", file, "--prompt", "a<|im_end|>", "--special"}).out,
              "97,258\n");
}

TEST_F(ModelTokens, OfStandardInput) {
    const testing::Printed ids =
        assay_given("a\r\n\xc3\xa9\n", {"model", "tokenize", file, "--prompt", "-"});
    EXPECT_EQ(ids.out, "97,13,10,195,169\n");
    EXPECT_EQ(assay_given(ids.out, {"model", "detokenize", file, "--ids", "-"}).out,
              "a\r\n\xc3\xa9\n");
}

TEST_F(ModelTokens, TheTemplateIsGeneratesOwn) {
    EXPECT_EQ(assay_json({"model", "tokenize", file, "--prompt", "a", "--chat"})["ids"],
              assay_json({"model", "generate", file, "--prompt", "a", "--chat", "--max-tokens",
                          "1"})["prompt_ids"]);
}

TEST_F(ModelTokens, Refusals) {
    expect_refused({"tokenize", file}, "--prompt");
    expect_refused({"tokenize", file, "--prompt", ""}, "--prompt is empty");
    EXPECT_NE(assay_given("\n", {"model", "tokenize", file, "--prompt", "-"})
                  .err.find("the text is empty"),
              std::string::npos);
    expect_refused({"tokenize", wordless, "--prompt", "a"}, "wordless.gguf");
    expect_refused({"detokenize", file}, "--ids");
    expect_refused({"detokenize", file, "--ids", "1,"}, "'' is no token id");
    expect_refused({"detokenize", file, "--ids", "1,259"}, "259 is outside the vocabulary of 259");
    nn::write_bytes(folder / "lacks.gguf", toy_language_file(model, "\r").bytes());
    expect_refused({"tokenize", (folder / "lacks.gguf").string(), "--prompt", "a\r"},
                   "the first is 0x0d in line 1, byte 2");
}

}  // namespace
}  // namespace assay::model
