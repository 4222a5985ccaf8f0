// Gradients of rows as `assay model gradients` writes them; what they are worth is tested beside
// impls/nn/row_gradients.
#include <nlohmann/json.hpp>

#include "impls/model/perplexity.hpp"
#include "impls/tensors/module.hpp"
#include "tests/model/model_program.hpp"

namespace assay::model {
namespace {

class ModelGradients : public ModelProgram {
  protected:
    std::string general = write("pool.jsonl",
                                "{\"prompt\": \"ab\", \"completion\": \"cde\"}\n"
                                "{\"text\": \"hello\"}\n");
    std::string more = write("chat.jsonl",
                             "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, "
                             "{\"role\": \"assistant\", \"content\": \"b\"}]}\n");
    std::string target = write("target.jsonl", "{\"prompt\": \"x\", \"completion\": \"yz\"}\n");
    std::string output = (folder / "gradients.safetensors").string();

    void expect_bad(const std::string& of_general, const std::string& of_target,
                    const std::string& part, const std::vector<std::string>& more_arguments = {}) {
        std::vector<std::string> arguments{"gradients", file,      "--general", of_general,
                                           "--target",  of_target, "-o",        output};
        arguments.insert(arguments.end(), more_arguments.begin(), more_arguments.end());
        expect_refused(arguments, part);
        EXPECT_FALSE(std::filesystem::exists(output));
    }
};

TEST_F(ModelGradients, AreWrittenForEveryMapRowAndSource) {
    if (!tensors::module_is_built()) GTEST_SKIP() << "needs libtorch";
    const auto printed = assay({"model", "gradients", file, "--general", general + "," + more,
                                "--target", target, "-o", output, "--threads", "1", "--json"});
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    const auto said = nlohmann::json::parse(printed.out);
    EXPECT_EQ(said["n"], 3);
    EXPECT_EQ(said["m"], 1);
    EXPECT_EQ(said["bytes"], std::filesystem::file_size(output));
    const nn::TensorFile written(output);
    const auto& config = model.config;
    EXPECT_EQ(written.tensors().size(), 2U * 7U * static_cast<std::size_t>(config.layers));
    EXPECT_EQ(written.tensors().front().name, "layer0/query/gradients");
    const auto* up = written.find("layer1/up/gradients");
    ASSERT_TRUE(up);
    EXPECT_EQ(up->shape,
              (std::vector<std::int64_t>{3, std::int64_t{config.hidden} * config.width}));
    ASSERT_TRUE(written.find("layer1/up/target"));
    const auto& metadata = written.metadata().at("metadata");
    EXPECT_EQ(metadata.at("tokens"), "[3,4,2]");  // "b" and the end of its turn
    EXPECT_EQ(nlohmann::json::parse(metadata.at("sources").get<std::string>()),
              (nlohmann::json{general, general, more}));
    std::vector<float> values(static_cast<std::size_t>(up->elements()));
    nn::to_floats(*up, 0, values);
    EXPECT_TRUE(std::any_of(values.begin(), values.end(), [](float value) { return value != 0; }));
    EXPECT_TRUE(
        std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }));
}

TEST_F(ModelGradients, OfAFewLayersAreThoseOfAll) {
    if (!tensors::module_is_built()) GTEST_SKIP() << "needs libtorch";
    const auto all = assay({"model", "gradients", file, "--general", general, "--target", target,
                            "-o", output, "--threads", "1"});
    ASSERT_EQ(all.exit_code, 0) << all.err;
    const std::string few = (folder / "few.safetensors").string();
    const auto some = assay({"model", "gradients", file, "--general", general, "--target", target,
                             "-o", few, "--threads", "1", "--layers", "1"});
    ASSERT_EQ(some.exit_code, 0) << some.err;
    const nn::TensorFile one(few), every(output);
    EXPECT_EQ(one.tensors().size(), 14U);
    for (const auto& tensor : one.tensors()) {
        EXPECT_TRUE(tensor.name.starts_with("layer1/")) << tensor.name;
        const auto* same = every.find(tensor.name);
        ASSERT_TRUE(same);
        EXPECT_EQ(same->shape, tensor.shape);
        const auto elements = static_cast<std::size_t>(tensor.elements());
        std::vector<float> values(elements), same_values(elements);
        to_floats(tensor, 0, values);
        to_floats(*same, 0, same_values);
        EXPECT_EQ(values, same_values) << tensor.name;
    }
}

TEST_F(ModelGradients, BadInputIsNamedAndNothingIsWritten) {
    expect_bad((folder / "no.jsonl").string(), target, "no.jsonl: cannot be read");
    expect_bad(general, write("bad.jsonl", "{\"text\": \"abc\"}\n{\"text\": 3}\n"),
               "bad.jsonl:2: ");
    expect_bad(write("empty.jsonl", "\n"), target, "empty.jsonl: no rows");
    expect_bad(write("zero.jsonl", "{\"prompt\": \"ab\", \"completion\": \"\"}\n"), target,
               "zero.jsonl:1: a row with 0 scored tokens");
    expect_bad(general, target, "--context 4096: the model's context is 48 tokens",
               {"--context", "4096"});
    expect_bad(general, target, "--layers 9: the model's layers are 0 to", {"--layers", "0,9"});
    output = (folder / "no/where.safetensors").string();
    expect_bad(general, target, "--output");
}

}  // namespace
}  // namespace assay::model
