// `assay plan lte`: the JSON other programs build on, the text, and what bad input is answered
// with.
#include "impls/lte/decode_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/command_test.hpp"
#include "tests/nn/files/toy_gguf.hpp"

namespace assay::lte {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class LtePlanCommand : public assay::testing::CommandTest {
  protected:
    LtePlanCommand() : CommandTest(make_plan_command) {
        setenv("ASSAY_DATASETS", ASSAY_TEST_DATASETS, 1);
        setenv("ASSAY_DATA", folder_.c_str(), 1);
    }

    std::string toy_file() {
        const auto bytes =
            nn::gguf_of(nn::toy_model(nn::toy_llama_config()), nn::TensorType::q8_0).bytes();
        const std::string name = (folder_ / "toy.gguf").string();
        std::ofstream(name, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        return name;
    }
};

TEST_F(LtePlanCommand, PrintsThePromisedJson) {
    const json plan = json::parse(output({"--shape", "llama2-7b", "--sparsity", "0.5,0.9",
                                          "--device", "h200", "--context", "0", "--json"}));
    EXPECT_EQ(plan.at("experts").at("per_layer"), 344);
    EXPECT_EQ(plan.at("stored_as").at("ffn"), "bf16");
    EXPECT_EQ(plan.at("device").at("id"), "h200");
    EXPECT_TRUE(plan.at("dense").at("sparsity").is_null());
    ASSERT_EQ(plan.at("points").size(), 2u);
    const json& half = plan.at("points")[0];
    EXPECT_EQ(half.at("sparsity"), 0.5);
    EXPECT_EQ(half.at("union_sparsity"), 0.5);
    EXPECT_EQ(half.at("layer_flops").at("ffn"), 4096.0 * 11008 * 3);
    EXPECT_EQ(half.at("layer_flops").at("router"), 2.0 * 4096 * 344);
    double bytes = 0;
    for (const auto& [part, value] : half.at("bytes_by_part").items()) bytes += value.get<double>();
    EXPECT_DOUBLE_EQ(half.at("bytes_per_token").get<double>(), bytes);
    // Memory alone bounds a single sequence: 4.8 TB/s, of which the profile says 0.88 are reached.
    EXPECT_NEAR(half.at("expected_s").get<double>(), bytes / (0.88 * 4.8e12), 1e-12);
    EXPECT_NEAR(half.at("expected_speedup").get<double>(),
                1 / (1 - half.at("saved_bytes").get<double>()), 1e-9);
    EXPECT_THAT(plan.at("assumptions").dump(), HasSubstr("not a measurement"));
    double flops = 0;
    for (const auto& [part, value] : half.at("flops_by_part").items()) flops += value.get<double>();
    EXPECT_DOUBLE_EQ(half.at("saved_flops").get<double>(),
                     1 - flops / plan.at("dense").at("flops_per_token").get<double>());
    EXPECT_GT(half.at("saved_layers_flops"), half.at("saved_flops"));
}

TEST_F(LtePlanCommand, WithoutSparsitiesShowsSeveral) {
    const json plan = json::parse(output({"--shape", "gpt2", "--json"}));
    ASSERT_EQ(plan.at("points").size(), 4u);
    EXPECT_EQ(plan.at("points")[1].at("sparsity"), 0.5);
    // Those that are given replace them.
    EXPECT_EQ(
        json::parse(output({"--shape", "gpt2", "--sparsity", "0.8", "--json"})).at("points").size(),
        1u);
}

TEST_F(LtePlanCommand, WithoutADeviceThereIsNoTime) {
    const json plan =
        json::parse(output({"--shape", "gpt2", "--sparsity", "0.5", "--batch", "2", "--json"}));
    EXPECT_TRUE(plan.at("device").is_null());
    EXPECT_TRUE(plan.at("points")[0].at("expected_s").is_null());
    EXPECT_EQ(plan.at("points")[0].at("union_sparsity"), 0.25);
    EXPECT_THAT(plan.at("assumptions").dump(), HasSubstr("independently"));
}

TEST_F(LtePlanCommand, ReadsAModelFile) {
    const json plan = json::parse(
        output({"--model", toy_file(), "--sparsity", "0.5", "--context", "0", "--json"}));
    EXPECT_EQ(plan.at("model").at("name"), "toy");
    EXPECT_EQ(plan.at("model").at("origin"), "toy.gguf");
    EXPECT_EQ(plan.at("stored_as").at("ffn"), "q8_0");
    // 2 layers, 3 matrices of 64 × 96, 34 bytes for each 32 weights.
    EXPECT_EQ(plan.at("dense").at("bytes_by_part").at("ffn"), 2 * 3 * 64 * 96 / 32 * 34);
}

TEST_F(LtePlanCommand, WithoutAContextTakesWhatTheModelReaches) {
    const auto context = [this](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--sparsity", "0.5", "--json"});
        return json::parse(output(arguments)).at("context").get<int>();
    };
    const int reach = nn::toy_llama_config().context;
    ASSERT_LE(reach, 512);
    EXPECT_EQ(context({"--model", toy_file()}), reach - 1);
    EXPECT_EQ(context({"--shape", "gpt2"}), 512);
    EXPECT_EQ(context({"--model", toy_file(), "--context", "3"}), 3);
    // What is asked for is never shortened.
    EXPECT_THAT(error({"--model", toy_file(), "--sparsity", "0.5", "--context", "512"}),
                HasSubstr("--context 512"));
}

TEST_F(LtePlanCommand, PrintsTablesForPeople) {
    EXPECT_EQ(output({"--model", toy_file(), "--sparsity", "0.5", "--context", "15", "--device",
                      "a100", "--batch", "2"}),
              R"(toy (toy.gguf), llama with swiglu
2 layers, width 64, 96 neurons per feed-forward network: 3 experts of 32
stored as: attention q8_0, feed-forward q8_0, output q8_0
on a100 (NVIDIA A100 SXM4 40 GB): 1555 GB/s times 0.85 (assumed), 312 TFLOP/s times 0.45 (assumed)

MFLOP of one layer and one token, as in Table 1: no attention over the cache, no output matrix
sparsity  attention       ffn    router     layer  saved
────────  ─────────  ────────  ────────  ────────  ─────
dense      0.024576  0.036864         0   0.06144   0.0%
0.5        0.024576  0.018432  0.000384  0.043392  29.4%

MFLOP per token, all of it
sparsity  attention     cache    router       ffn   output      all  saved
────────  ─────────  ────────  ────────  ────────  ───────  ───────  ─────
dense      0.049152  0.008192         0  0.073728  0.00512  0.13619   0.0%
0.5        0.049152  0.008192  0.000768  0.036864  0.00512   0.1001  26.5%

MB to read per token, all of it, shared by the batch
sparsity  union  attention     cache    router       ffn   output     other       all  saved
────────  ─────  ─────────  ────────  ────────  ────────  ───────  ────────  ────────  ─────
dense         0   0.013056  0.004096         0  0.019584  0.00136  0.000708  0.038804   0.0%
0.5        0.25   0.013056  0.004096  0.000384  0.014688  0.00136  0.000708  0.034292  11.6%

Time: a bound, not a measurement
sparsity      per step   tokens/s  speed-up
────────  ────────────  ─────────  ────────
dense     5.872e-05 ms  3.406e+07         1
0.5       5.189e-05 ms  3.854e+07      1.13

* a token also costs attention over the cache and the output matrix, which sparsity does not make
  smaller; the paper's Table 1 leaves both out, so that its saving is larger
* routers and cache are stored in 16 bits (assumed: a model file has neither)
* each step adds one token to each of 2 sequences with 15 tokens in the cache
* tokens of a batch activate experts independently of one another, each with the same probability,
  so that the union leaves sparsity^batch out; tokens that share experts leave out more
* expected time is a bound, not a measurement: for each part the longer of bytes over bandwidth
  and FLOPs over peak, at the profile's efficiencies; kernel launches, dequantisation, norms and
  waiting are left out
)");
}

TEST_F(LtePlanCommand, SaysWhatIsWrongAndHowToMendIt) {
    EXPECT_THAT(error({"--sparsity", "0.5"}), HasSubstr("--model FILE"));
    EXPECT_THAT(error({"--shape", "gpt2", "--sparsity", "1"}), HasSubstr("not including 1"));
    EXPECT_THAT(error({"--shape", "gpt2", "--sparsity", "-0.5"}), HasSubstr("from 0"));
    EXPECT_THAT(error({"--shape", "gpt2", "--sparsity", "0.5", "--device", "h20"}),
                HasSubstr("did you mean 'h200'?"));
    EXPECT_THAT(error({"--shape", "gpt", "--sparsity", "0.5"}), HasSubstr("did you mean 'gpt2'?"));
    EXPECT_THAT(error({"--shape", "gpt2", "--weights", "q9", "--sparsity", "0.5"}),
                HasSubstr("q4_1"));
    EXPECT_THAT(error({"--shape", "gpt2", "--sparsity", "0.5", "--batch", "0"}),
                HasSubstr("at least 1"));
    EXPECT_THAT(error({"--shape", "gpt2", "--sparsity", "0.5", "--context", "5000"}),
                HasSubstr("from 0 to 1023"));
    EXPECT_THAT(error({"--model", "nowhere.gguf", "--sparsity", "0.5"}), HasSubstr("no such file"));
    EXPECT_THAT(error({"--model", "bible-kjv", "--sparsity", "0.5"}), HasSubstr("is a corpus"));
    EXPECT_THROW(output({"--shape", "gpt2", "--model", "x", "--sparsity", "0.5"}), CLI::Error);
    EXPECT_THROW(output({"--shape", "gpt2", "--sparsity", "half"}), CLI::Error);
}

}  // namespace
}  // namespace assay::lte
