// Logits of an independent implementation (golden/make.py says which).
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "impls/nn/decoder.hpp"
#include "tests/nn/small_decoders.hpp"

namespace assay::nn {
namespace {

const std::filesystem::path folder = ASSAY_TEST_GOLDEN;

nlohmann::json read_json(const std::filesystem::path& file) {
    std::ifstream in(file);
    return nlohmann::json::parse(in);
}

class TinyModel : public testing::TestWithParam<const char*> {};

TEST_P(TinyModel, GivesTheGoldenLogits) {
    const auto golden = read_json(folder / GetParam() / "golden.json");
    const auto decoder = Decoder::load(TensorFile(folder / GetParam()));
    DenseFeedForward dense;
    at::NoGradGuard no_grad;
    for (std::size_t s = 0; s < golden.at("ids").size(); ++s) {
        const auto ids = golden["ids"][s].get<std::vector<std::int64_t>>();
        const auto logits = decoder.logits(at::tensor(ids, at::kLong).unsqueeze(0), dense)[0];
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const auto expected = golden["logits"][s][i].get<std::vector<double>>();
            ASSERT_EQ(logits.size(1), static_cast<std::int64_t>(expected.size()));
            EXPECT_LT(largest_difference(logits[static_cast<std::int64_t>(i)],
                                         at::tensor(expected, at::kDouble)),
                      1e-4);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(OfEachFamily, TinyModel,
                         testing::Values("llama", "gpt2", "qwen2", "qwen3"),
                         [](const auto& info) { return std::string(info.param); });

TEST(PretrainedModel, GivesTheGoldenLogitsOfFurtherPrompts) {
    const char* file = std::getenv("ASSAY_TEST_MODEL");
    if (!file) GTEST_SKIP() << "ASSAY_TEST_MODEL does not name the model's file";
    at::set_num_threads(2);
    const auto decoder = Decoder::load(TensorFile(file));
    DenseFeedForward dense;
    at::NoGradGuard no_grad;
    for (const auto& golden : read_json(folder / "smollm2.json")) {
        const auto ids = golden.at("ids").get<std::vector<std::int64_t>>();
        const auto logits = decoder.logits(at::tensor(ids, at::kLong).unsqueeze(0), dense)[0][-1];
        const auto top = golden.at("top").get<std::vector<std::int64_t>>();
        for (std::size_t i = 0; i < top.size(); ++i)
            EXPECT_NEAR(logits[top[i]].item<double>(), golden["logits"][i].get<double>(), 5e-3);
        EXPECT_EQ(logits.argmax().item<std::int64_t>(), top.front());
        EXPECT_NEAR(logits.mean().item<double>(), golden["mean"].get<double>(), 1e-3);
    }
}

}  // namespace
}  // namespace assay::nn
