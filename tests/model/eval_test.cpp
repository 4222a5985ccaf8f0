// Perplexity against a decoder written in double.
#include <cmath>
#include <numbers>

#include "impls/model/perplexity.hpp"
#include "impls/tensors/module.hpp"
#include "tests/decode/reference_decoder.hpp"
#include "tests/model/model_program.hpp"

namespace assay::model {
namespace {

class ModelEval : public ModelProgram {
  protected:
    // Nats of bytes of `text`, in windows; and how many were scored.
    std::pair<double, int> expected(const std::string& text, std::size_t window) const {
        const decode::ReferenceDecoder reference(model);
        double nats = 0;
        int scored = 0;
        for (std::size_t at = 0; at < text.size(); at += window) {
            std::vector<int> ids;
            for (const char c : text.substr(at, window))
                ids.push_back(static_cast<unsigned char>(c));
            const auto logits = reference.logits(ids);
            for (std::size_t i = 1; i < ids.size(); ++i, ++scored) {
                double sum = 0;
                for (const double logit : logits[i - 1]) sum += std::exp(logit);
                nats += std::log(sum) - logits[i - 1][static_cast<std::size_t>(ids[i])];
            }
        }
        return {nats, scored};
    }
    void expect_as_reference(const nlohmann::json& result, const std::string& text,
                             std::size_t window, double tolerance) const {
        const auto [nats, scored] = expected(text, window);
        EXPECT_EQ(keys_of(result), (std::vector<std::string>{"bits_per_byte", "nll_nats_per_token",
                                                             "perplexity", "seconds", "tokens"}));
        EXPECT_EQ(result["tokens"], scored);
        const double per_token = nats / scored;
        EXPECT_NEAR(result["nll_nats_per_token"].get<double>(), per_token, tolerance);
        EXPECT_NEAR(result["perplexity"].get<double>(), std::exp(per_token),
                    2 * tolerance * std::exp(per_token));
        // A token is a byte here.
        EXPECT_NEAR(result["bits_per_byte"].get<double>(), per_token / std::numbers::ln2,
                    2 * tolerance);
        EXPECT_GT(result["seconds"].get<double>(), 0);
    }

    const std::string text =
        "In the beginning was the word.\nIt had 5 bytes, or \xc3\xa9ight? "
        "Nobody had counted them before that day, and nobody would after.";
    const std::string text_file = write("text.txt", text);
};

TEST_F(ModelEval, AsTheReference) {
    for (const char* const through : {"engine", "libtorch"}) {
        if (through == std::string("libtorch") && !tensors::module_is_built()) continue;
        SCOPED_TRACE(through);
        const std::vector<std::string> command{"model",   "eval",      file,   "--text",
                                               text_file, "--through", through};
        const auto with = [&](std::vector<std::string> more) {
            std::vector<std::string> all = command;
            all.insert(all.end(), more.begin(), more.end());
            return assay_json(all);
        };
        expect_as_reference(with({}), text, 48, 1e-5);
        expect_as_reference(with({"--context", "10"}), text, 10, 1e-5);
        // 41 tokens in windows of 20: the last has one, which is not scored.
        expect_as_reference(with({"--context", "20", "--limit-tokens", "41"}), text.substr(0, 41),
                            20, 1e-5);
        expect_as_reference(with({"--dtype", "bf16"}), text, 48, 0.1);
    }
}

TEST_F(ModelEval, ForPeople) {
    const testing::Printed printed =
        assay({"model", "eval", file, "--text", text_file, "--limit-tokens", "30"});
    EXPECT_EQ(printed.exit_code, 0);
    EXPECT_NE(printed.out.find("29 tokens scored, 29 bytes, in windows of 30"), std::string::npos)
        << printed.out;
    EXPECT_NE(printed.out.find("bits per byte"), std::string::npos);
}

TEST_F(ModelEval, Refusals) {
    expect_refused({"eval", file, "--text", "nothing.txt"}, "no such file; give a text file");
    expect_refused({"eval", file, "--text", folder.path().string()}, "cannot be read");
    expect_refused({"eval", file, "--text", write("short", "a")}, "fewer than 2 tokens");
    expect_refused({"eval", file, "--text", text_file, "--context", "49"},
                   "the model's context is 48");
    expect_refused({"eval", file, "--text", text_file, "--context", "1"}, "--context");
    expect_refused({"eval", file, "--text", text_file, "--dtype", "f64"}, "--dtype");
    expect_refused({"eval", wordless, "--text", text_file}, "wordless.gguf");
    expect_refused({"eval", file, "--text", write("empty", "")}, "fewer than 2 tokens");
    nn::write_bytes(folder / "lacks.gguf", toy_language_file(model, "\x04\r").bytes());
    expect_refused(
        {"eval", (folder / "lacks.gguf").string(), "--text", write("lines.txt", "ab\r\nc\x04\r\n")},
        "lines.txt: the model's vocabulary has no token for 3 of the text's 8 bytes: the "
        "first is 0x0d in line 1, byte 3");
}

}  // namespace
}  // namespace assay::model
