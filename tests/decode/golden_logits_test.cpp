// Logits of an independent implementation (tests/nn/golden/make.py says which), of folders that
// hold config.json and model.safetensors alone.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/decode/toy_networks.hpp"

namespace assay::decode {
namespace {

const std::filesystem::path goldens = ASSAY_TEST_GOLDEN;

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, Logits) {
    const std::filesystem::path folder = goldens / GetParam();
    std::ifstream in(folder / "golden.json");
    const auto golden = nlohmann::json::parse(in);
    for (std::size_t s = 0; s < golden.at("ids").size(); ++s) {
        LoneSequence sequence{nn::TensorFile(folder)};
        const auto ids = golden["ids"][s].get<std::vector<int>>();
        const std::vector<float> all = sequence.feed_each(ids);
        const std::size_t vocabulary = all.size() / ids.size();
        for (std::size_t i = 0; i < ids.size(); ++i)
            expect_near(std::span(all).subspan(i * vocabulary, vocabulary),
                        golden["logits"][s][i].get<Row>(), 2e-5);
    }
}

INSTANTIATE_TEST_SUITE_P(OfEachKind, Golden, testing::Values("llama", "gpt2", "qwen2", "qwen3"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace assay::decode
