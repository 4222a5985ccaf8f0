#include "tests/model/model_program.hpp"

namespace assay::model {
namespace {

class ModelShow : public ModelProgram {};

TEST_F(ModelShow, Json) {
    const nlohmann::json shown = assay_json({"model", "show", file});
    std::size_t matrices = 0, vectors = 0;
    for (const auto& [name, values] : model.parameters)
        (model.shapes.at(name).size() == 2 ? matrices : vectors) += values.size();
    EXPECT_EQ(shown["parameters"], matrices + vectors);
    EXPECT_EQ(shown["family"], "llama");
    EXPECT_EQ(shown["activation"], "swiglu");
    EXPECT_EQ(shown["layers"], 2);
    EXPECT_EQ(shown["kv_heads"], 2);
    EXPECT_EQ(shown["vocabulary"], 259);
    EXPECT_EQ(shown["context"], 48);
    EXPECT_EQ(shown["tied_embeddings"], true);
    EXPECT_EQ(shown["file_bytes"], std::filesystem::file_size(file));
    const nlohmann::json types{
        {{"type", "q8_0"}, {"tensors", 15}, {"elements", matrices}, {"bytes", matrices / 32 * 34}},
        {{"type", "f32"}, {"tensors", 5}, {"elements", vectors}, {"bytes", vectors * 4}}};
    EXPECT_EQ(shown["types"], types);
    const nlohmann::json tokenizer{{"tokens", 259},
                                   {"start_of_text", nullptr},
                                   {"end_of_text", 256},
                                   {"text_ends", {end_of_text, turn_end}},
                                   {"chat", true}};
    EXPECT_EQ(shown["tokenizer"], tokenizer);
    // Keys and values of 2 layers, 2 heads, width 16, in fp32.
    EXPECT_EQ(shown["kv_cache_bytes_per_token"], 512);
    EXPECT_EQ(shown["kv_cache_bytes"], 512 * 48);
}

TEST_F(ModelShow, TextNamesEverything) {
    const testing::Printed printed = assay({"model", "show", file});
    EXPECT_EQ(printed.exit_code, 0);
    for (const char* const part : {"toy", "llama, swiglu", "2 of width 64, 96 hidden",
                                   "4 heads of width 16, 2 key-value heads", "embeddings tied",
                                   "q8_0", "f32", "end of text 256 or 258", "512 B per token"})
        EXPECT_NE(printed.out.find(part), std::string::npos) << part << "\n" << printed.out;
}

TEST_F(ModelShow, NormsAndBiasesOfTheAttention) {
    const auto at = (folder / "qwen.gguf").string();
    nn::write_bytes(at, nn::gguf_of(nn::toy_model(nn::toy_qwen3_config())).bytes());
    EXPECT_NE(assay({"model", "show", at}).out.find("heads, queries and keys normalised\n"),
              std::string::npos);
    EXPECT_EQ(assay_json({"model", "show", at})["query_key_norms"], true);
    nn::write_bytes(at, nn::gguf_of(nn::toy_model(nn::toy_qwen2_config())).bytes());
    EXPECT_NE(assay({"model", "show", at}).out.find("heads, biases of query, key, value\n"),
              std::string::npos);
    EXPECT_EQ(assay_json({"model", "show", at})["query_key_value_biases"], true);
}

TEST_F(ModelShow, AModelWithoutTokenizerCanBeLookedAt) {
    EXPECT_EQ(assay_json({"model", "show", wordless})["tokenizer"], nullptr);
    EXPECT_NE(assay({"model", "show", wordless}).out.find("tokenizer    none: "),
              std::string::npos);
}

TEST_F(ModelShow, NamesOfOthersAreWrittenOut) {
    nn::ToyModel named = model;
    named.config.name = "tiny\x1b[31m\nfamily       gpt9";
    nn::GgufWriter writer = nn::gguf_of(named);
    writer.put("tokenizer.ggml.model", std::string("\x1b]0;title\x07"));
    nn::write_bytes(folder / "named.gguf", writer.bytes());
    const testing::Printed printed = assay({"model", "show", (folder / "named.gguf").string()});
    EXPECT_NE(printed.out.find("name         tiny\\x1b[31m\\nfamily       gpt9\n"),
              std::string::npos)
        << printed.out;
    EXPECT_NE(printed.out.find("of kind \"\\x1b]0;title\\x07\""), std::string::npos) << printed.out;
    EXPECT_EQ(printed.out.find('\x1b'), std::string::npos);
}

TEST_F(ModelShow, WhatIsNoModel) {
    expect_refused({"show", "no-such-model"}, "no such file; give a GGUF");
    expect_refused({"show", "bible-kjv"}, "bible-kjv is a corpus");
    {
        const testing::EnvironmentVariable tree{"ASSAY_DATASETS", source_tree().string()};
        expect_refused({"show", "smollm2-135m-instruct"},
                       "run: assay data fetch smollm2-135m-instruct --from FILE");
    }
    expect_refused({"show", write("text", "no model at all")}, "neither a GGUF nor a safetensors");
    nn::GgufWriter writer = nn::gguf_of(model);
    writer.tensors.pop_back();  // the final norm
    nn::write_bytes(folder / "part.gguf", writer.bytes());
    expect_refused({"show", (folder / "part.gguf").string()}, "output_norm.weight");
}

}  // namespace
}  // namespace assay::model
