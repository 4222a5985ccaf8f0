// A trained model through a file to the decoder: the same function.
#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "impls/lte/experiments/on_workbench.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/text/tokenizer.hpp"
#include "suite/base/error.hpp"
#include "tests/decode/lone_sequence.hpp"
#include "tests/lte/recipes/small_bench.hpp"

namespace assay::lte {
namespace {

std::vector<int> some_text() {
    std::vector<int> ids;
    for (const char letter : std::string("17 + 5 = 22\n3 + 4 = 7\n30 + 16 = 46"))
        ids.push_back(letter);
    return ids;
}

/// Of the training model in its mode of serving, after each id: [ids, vocabulary].
at::Tensor logits_in_training(Workbench& bench, SparseModel& model, const std::vector<int>& ids) {
    const at::NoGradGuard no_grad;
    const auto tokens = at::tensor(ids, at::kLong).unsqueeze(0);
    return bench.decoder().logits(tokens, *model.ffn).squeeze(0);
}

SparseModel made(Workbench& bench, const std::string& variant) {
    if (variant == "lte") return train_lte(bench, {}).model;
    if (variant == "lte_as_is") return train_lte(bench, recipe_as_is()).model;
    if (variant == "lte_biased") return train_lte(bench, {.router_bias = 0.5}).model;
    return make_rival(bench, of_word<Competitor>(variant).value(), 0.5);
}

class Product : public ::testing::TestWithParam<const char*> {};

TEST_P(Product, DecodedFromItsFileGivesTheLogitsOfTraining) {
    const SmallBench small(GetParam());
    const assay::testing::TemporaryFolder folder;
    const auto ids = some_text();
    for (const char* variant : {"lte", "lte_as_is", "lte_biased", "cats", "teal", "dense"}) {
        auto materials = small.materials();
        materials.steps = 10;
        MemoryRecorder recorder;
        Workbench bench(materials, recorder);
        SparseModel model = made(bench, variant);
        const auto path = folder.path() / (std::string(variant) + ".gguf");
        write_model(bench, model.stored, nn::TensorType::f32, path);

        const nn::TensorFile file(path);
        EXPECT_EQ(nn::read_decoder_config(file), bench.decoder().config());
        EXPECT_EQ(nn::Tokenizer::of(file).encode("3 + 4"), nn::Tokenizer::bytes().encode("3 + 4"));
        decode::LoneSequence engine(file);
        const auto expected = logits_in_training(bench, model, ids);
        const double largest = expected.abs().max().item<double>();
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const auto logits = engine.feed({&ids[i], 1});
            const auto row = expected[static_cast<std::int64_t>(i)].contiguous();
            for (std::size_t token = 0; token < logits.size(); ++token)
                ASSERT_NEAR(logits[token], row.const_data_ptr<float>()[token], 1e-4 * largest)
                    << variant << ", after " << i + 1;
        }
        if (!model.stored) continue;
        // The dense function of these weights is another one, and libtorch knows of no other.
        decode::LoneSequence dense(file, {.sparse = false});
        engine.reset();
        EXPECT_NE(dense.feed(ids)[0], engine.feed(ids)[0]) << variant;
        EXPECT_THROW(nn::Decoder::load(file), UserError);
    }
}

INSTANTIATE_TEST_SUITE_P(Families, Product, ::testing::Values("llama-tiny", "gpt-tiny"));

TEST(WholeProduct, IsDecodedAndTimed) {
    const SmallBench small("llama-tiny");
    const assay::testing::TemporaryFolder scratch;
    auto product = small.training<XProduct>(10);
    product.recipe = Recipe::fast;
    product.scratch = scratch.path().string();
    MemoryRecorder recorder;
    run(product, recorder);
    EXPECT_LT(recorder.value("decoded_gap"), 0.05);
    EXPECT_NEAR(std::log(recorder.value("decoded_perplexity")),
                std::log(recorder.value("perplexity")), 0.05);
    EXPECT_GT(recorder.value("tokens_per_s"), 0);
    EXPECT_NEAR(recorder.value("latency_saved"), 1 - recorder.value("latency_ratio"), 1e-12);
    EXPECT_EQ(recorder.value("file_bytes"),
              static_cast<double>(std::filesystem::file_size(scratch.path() / "model.gguf")));
}

}  // namespace
}  // namespace assay::lte
