// The system `decode`: claims ask experiments for what they have, and the simulated ones come out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "impls/decode/back_ends.hpp"
#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/modelled_gpu.hpp"
#include "impls/decode/experiments/peers.hpp"
#include "impls/decode/experiments/random_model_file.hpp"
#include "impls/decode/register.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::decode {
namespace {

class DecodeExperiments : public ::testing::Test {
  protected:
    DecodeExperiments() { setenv("ASSAY_DATASETS", ASSAY_TEST_DATASETS, 1); }

    static std::map<std::string, double> run(const Experiment& experiment,
                                             const std::string& variant, const Case& axes,
                                             Provenance provenance = Provenance::simulated) {
        SampleSpec spec;
        spec.variant = variant;
        spec.axes = axes;
        spec.provenance = provenance;
        spec.scratch = ::testing::TempDir();
        MemoryRecorder recorder;
        experiment.run(spec, recorder);
        std::map<std::string, double> metrics;
        for (const auto& metric : recorder.metrics) {
            EXPECT_TRUE(experiment.metric(metric.name)) << metric.name;
            metrics[metric.name] = metric.value;
        }
        const auto always =
            std::count_if(experiment.metrics.begin(), experiment.metrics.end(),
                          [](const MetricSpec& metric) { return metric.only.empty(); });
        if (provenance == Provenance::simulated) {
            EXPECT_EQ(metrics.size(), static_cast<std::size_t>(always));
        }
        return metrics;
    }
};

TEST_F(DecodeExperiments, ClaimsAndExperimentsFit) {
    Registry registry;
    ASSERT_NO_THROW(registry.add(make_system()));
    EXPECT_TRUE(registry.experiment("decode/x_batch"));
    EXPECT_TRUE(registry.system("decode")->on_request);
}

TEST_F(DecodeExperiments, SharedPromptsAreComputedOnce) {
    const auto none = run(x_prefix(), "prefix_tree", {{"share", 0.0}});
    EXPECT_EQ(none.at("reused_tokens"), 0);
    EXPECT_EQ(none.at("speedup"), 1);
    const auto half = run(x_prefix(), "prefix_tree", {{"share", 0.5}});
    EXPECT_EQ(half.at("reused_tokens"), 63 * 512);
    EXPECT_EQ(half.at("computed_tokens"), 64 * (1024 + 127) - 63 * 512);
    EXPECT_GT(half.at("speedup"), 1.1);
    EXPECT_EQ(half.at("same_bits"), 1);
    EXPECT_EQ(run(x_prefix(), "none", {{"share", 0.5}}).at("speedup"), 1);
}

TEST_F(DecodeExperiments, PreemptionCostsTimeAndNoToken) {
    for (const char* const variant : {"recompute", "swap"}) {
        const auto roomy = run(x_pressure(), variant, {{"blocks", 1.0}});
        EXPECT_EQ(roomy.at("preemptions"), 0);
        EXPECT_EQ(roomy.at("slowdown"), 1);
        const auto tight = run(x_pressure(), variant, {{"blocks", 0.4}});
        EXPECT_GT(tight.at("preemptions"), 0);
        EXPECT_GT(tight.at("slowdown"), 1.1);
        EXPECT_EQ(tight.at("same_bits"), 1);
        EXPECT_EQ(tight.at("computed_tokens") > roomy.at("computed_tokens"),
                  variant == std::string("recompute"));
    }
}

TEST_F(DecodeExperiments, MeasuredSamplesNeedTheModelAndTakeNothingForGranted) {
    setenv("ASSAY_DATA", "/nowhere", 1);
    for (const Experiment& experiment : {x_prefix(), x_pressure()}) {
        SampleSpec spec;
        spec.variant = experiment.variants.front();
        spec.axes = {{"share", 0.5}, {"blocks", 0.05}};
        spec.provenance = Provenance::simulated;
        EXPECT_FALSE(experiment.unsupported(spec));
        EXPECT_TRUE(experiment.calibration(spec).is_object());
        EXPECT_NO_THROW(experiment.validate(spec));
        spec.provenance = Provenance::measured;
        EXPECT_NE(experiment.unsupported(spec).value_or("").find("smollm2-135m-instruct"),
                  std::string::npos);
        EXPECT_TRUE(experiment.calibration(spec).is_null());
        EXPECT_FALSE(experiment.metric("tokens_per_s")->is_deterministic(Provenance::measured));
        EXPECT_TRUE(experiment.metric("same_bits")->is_deterministic(Provenance::measured));
    }
    // Too few blocks for any request.
    SampleSpec spec;
    spec.variant = "swap";
    spec.axes = {{"blocks", 0.05}};
    spec.provenance = Provenance::measured;
    EXPECT_THROW(x_pressure().validate(spec), UserError);
    unsetenv("ASSAY_DATA");
}

TEST_F(DecodeExperiments, AMoveCostsWhatIsComputedAgain) {
    const auto tokens = run(x_move(), "tokens", {{"length", std::int64_t{512}}});
    EXPECT_GT(tokens.at("lost_s"), 0);
    EXPECT_GT(tokens.at("computed_again"), 16 * 512);
    EXPECT_EQ(tokens.at("same_bits"), 1);
    const auto with_kv = run(x_move(), "with_kv", {{"length", std::int64_t{512}}});
    EXPECT_EQ(with_kv.at("computed_again"), 0);
    EXPECT_LT(with_kv.at("lost_s"), tokens.at("lost_s"));
    const auto killed = run(x_move(), "sigkill", {{"length", std::int64_t{512}}});
    EXPECT_EQ(killed.at("computed_again"), tokens.at("computed_again"));
    EXPECT_GT(killed.at("lost_s"), tokens.at("lost_s"));
    EXPECT_LT(killed.at("lost_s"), tokens.at("lost_s") + modelled_gpu_cost().weights_s);
}

TEST_F(DecodeExperiments, RequestsSurviveAnEnginesProcess) {
    const auto killed =
        run(x_move(), "sigkill", {{"length", std::int64_t{8}}}, Provenance::emulated);
    EXPECT_EQ(killed.at("same_bits"), 1);
    EXPECT_GE(killed.at("computed_again"), 16 * (8 + 32 - 1));
    EXPECT_LT(killed.at("computed_again"), 16 * (8 + 64));
    EXPECT_GT(killed.at("noticed_s"), 0);
}

TEST_F(DecodeExperiments, NewWeightsChangeNoToken) {
    for (const char* const variant : {"beside", "beside_keep", "stopped"}) {
        const auto swapped =
            run(x_swap(), variant, {{"weights", std::int64_t{1}}}, Provenance::measured);
        EXPECT_EQ(swapped.at("same_bits"), 1) << variant;
        EXPECT_GT(swapped.at("load_s"), 0);
        // An embedding and one layer.
        EXPECT_EQ(swapped.at("weight_bytes"), 2 * (4096 * 512 + 3 * 1024 * 1024));
    }
}

TEST_F(DecodeExperiments, CostOfAStepIsTheShapes) {
    const StepCost cost = modelled_gpu_cost();
    // 13.2 GB of weights in bf16 at an A100's 1.6 to 2 TB/s; two operations a weight.
    EXPECT_GT(cost.weights_s, 13.2e9 / 2.1e12);
    EXPECT_LT(cost.weights_s, 13.5e9 / 0.8e12);
    EXPECT_GT(cost.token_s, 13.2e9 / 312e12);
    EXPECT_LT(cost.token_s, 13.5e9 / 100e12);
    // A position's keys and values: 2 · 32 layers · 4096 · 2 bytes.
    EXPECT_NEAR(cost.block_s, 16 * 524288 / 31.5e9, 1e-6);
}

// A program of scripts/peers, for as long as this lives: a shell script.
class FakeProgram {
  public:
    FakeProgram(const char* variable, const std::string& script)
        : named_(variable, program_.string()) {
        std::ofstream(program_) << "#!/bin/sh\n" << script << '\n';
        std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
    }

  private:
    const testing::TemporaryFolder folder_;
    const std::filesystem::path program_ = folder_ / "program";
    const testing::EnvironmentVariable named_;
};

constexpr const char *llama = "ASSAY_LLAMA_BENCH", *ik_llama = "ASSAY_IK_LLAMA_BENCH",
                     *llama_quantize = "ASSAY_LLAMA_QUANTIZE";

// What a sample is told about waiting threads would halve its speed.
TEST(Peers, WaitAsTheyDoByThemselves) {
    const FakeProgram bench(llama,
                            "echo '{\"speed_pp\": 1, \"speed_tg\": '${OMP_WAIT_POLICY:-2}'}'");
    const testing::EnvironmentVariable policy("OMP_WAIT_POLICY", "passive");
    EXPECT_EQ(run_peer(Peer::llama_cpp, {}).tokens_per_s, 2);
}

TEST(Peers, AreAskedForBatchesOneAfterTheOther) {
    const FakeProgram bench(
        llama, "case \"$*\" in *'-npl 4,4,4 '*) echo '{\"speed_pp\": 1, \"speed_tg\": 3}';; esac");
    const PeerRun run{.model = "m", .batch = 4, .repeats = 3};
    EXPECT_EQ(run_peer(Peer::llama_cpp, run).tokens_per_s, 3);
    EXPECT_THROW(run_peer(Peer::llama_cpp, {.model = "m", .batch = 4}), SampleError);
}

// ik_llama.cpp tells its table where errors go, and rearranges weights where it is asked to.
constexpr const char* row =
    "'|  64 |  32 |   4 |  384 |  2.5 | 101.6 |  5.6 |  22.6 | 8.1 | 47 |' >&2";

TEST(Peers, ACrashIsCountedAndTheOtherKindOfAttentionStands) {
    const FakeProgram bench(ik_llama, std::string("case \"$*\" in *'-fa on'*) kill -6 $$;; "
                                                  "*-rtr*) echo ") +
                                          row + ";; esac");
    const PeerSpeed speed = run_peer(Peer::ik_llama_cpp, {.model = "m", .batch = 4});
    EXPECT_EQ(speed.crashes, 1);
    EXPECT_DOUBLE_EQ(speed.tokens_per_s, 22.6);
    EXPECT_DOUBLE_EQ(speed.prefill_tokens_per_s, 101.6);
}

TEST(Peers, CrashWithBothKindsOfAttentionOrDoNotRun) {
    {
        const FakeProgram bench(ik_llama, "kill -6 $$");
        const PeerSpeed speed = run_peer(Peer::ik_llama_cpp, {});
        EXPECT_EQ(speed.crashes, 2);
        EXPECT_EQ(speed.tokens_per_s, 0);
    }
    const FakeProgram bench(ik_llama, "exit 1");
    EXPECT_THROW(run_peer(Peer::ik_llama_cpp, {}), SampleError);
}

TEST(Peers, SpeedOfTheLinesThatTellOfABatch) {
    const auto speed = peer_speed(
        "load: something\n{\"n_kv_max\": 4096, \"pp\": 128, \"tg\": 128, \"pl\": 4, \"t_pp\": 1.5, "
        "\"speed_pp\": 341.3, \"t_tg\": 3.0, \"speed_tg\": 170.7, \"t\": 4.5, \"speed\": 227.5}\n");
    ASSERT_TRUE(speed);
    EXPECT_DOUBLE_EQ(speed->tokens_per_s, 170.7);
    EXPECT_DOUBLE_EQ(speed->prefill_tokens_per_s, 341.3);
    // Two batches: 128 tokens in a second, then in three.
    const auto mean = peer_speed(
        "{\"speed_pp\": 100, \"speed_tg\": 128}\n{\"speed_pp\": 100, \"speed_tg\": "
        "42.666666666666664}");
    ASSERT_TRUE(mean);
    EXPECT_DOUBLE_EQ(mean->tokens_per_s, 64);
    EXPECT_DOUBLE_EQ(mean->prefill_tokens_per_s, 100);
    EXPECT_FALSE(peer_speed("{\"speed_pp\": 0, \"speed_tg\": 0}"));
    EXPECT_FALSE(peer_speed(""));
    EXPECT_FALSE(peer_speed("{\"speed_pp\": 1}\n{\"speed_tg\": \"x\", \"speed_pp\": 2}"));
    EXPECT_FALSE(
        peer_speed("|    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s |\n"
                   "|-------|--------|------|--------|----------|----------|----------|\n"
                   "|  64 |  32 |   4 |  384 |  2.5 | 101.6 |  5.6 |\n"));
}

TEST(Peers, QuantizeEveryMatrixAlike) {
    const testing::TemporaryFolder folder;
    const FakeProgram program(llama_quantize, "echo \"$*\" >\"$4\"");
    quantize("from.gguf", nn::TensorType::q4_0, folder / "to.gguf");
    std::string asked;
    std::getline(std::ifstream(folder / "to.gguf"), asked);
    EXPECT_EQ(asked,
              "--allow-requantize --pure from.gguf " + (folder / "to.gguf").string() + " q4_0");
    const FakeProgram broken(llama_quantize, "exit 3");
    EXPECT_THROW(quantize("a", nn::TensorType::q4_0, folder / "b"), SampleError);
}

class BatchesBesidePeers : public DecodeExperiments {
  protected:
    // SmolLM2 is there, and quantised files are made of it, as far as names go.
    BatchesBesidePeers() { std::ofstream(folder_ / "smollm2-135m-instruct-q4_1.gguf"); }

    SampleSpec spec(const char* variant, const char* type) const {
        SampleSpec spec;
        spec.variant = variant;
        spec.provenance = Provenance::measured;
        spec.scratch = folder_.path().string();
        spec.axes = {{"batch", std::int64_t{4}},
                     {"activations", "int8"},
                     {"type", type},
                     {"model", "smollm2-135m-instruct"},
                     {"threads", std::int64_t{0}},
                     {"prompt", std::int64_t{8}},
                     {"tokens", std::int64_t{8}}};
        return spec;
    }

  private:
    const testing::TemporaryFolder folder_;
    const testing::EnvironmentVariable data_{"ASSAY_DATA", folder_.path().string()};
};

TEST_F(BatchesBesidePeers, NeedBothPeersAndOursTheFileOnly) {
    const testing::EnvironmentVariable nowhere(ik_llama, "/nowhere");
    const FakeProgram bench(llama, "exit 1"), quantize(llama_quantize, "exit 1");
    EXPECT_FALSE(x_batch().unsupported(spec("ours", "q4_0")));
    const auto lacks = x_batch().unsupported(spec("peers", "q4_0"));
    ASSERT_TRUE(lacks);
    EXPECT_NE(lacks->find("ik_llama.cpp"), std::string::npos);
}

TEST_F(BatchesBesidePeers, TheFasterCountsCaseByCase) {
    // Where its weights are q4_0 ik_llama.cpp is the faster one, where q8_0 it crashes.
    const FakeProgram bench(llama, "echo '{\"speed_pp\": 200, \"speed_tg\": 20}'");
    const FakeProgram ik(
        ik_llama, std::string("case \"$*\" in *q8_0*) kill -6 $$;; *) echo ") + row + ";; esac");
    const FakeProgram quantize(llama_quantize, "exit 0");
    const auto run = [&](const char* type) {
        MemoryRecorder recorder;
        x_batch().run(spec("peers", type), recorder);
        return recorder;
    };
    const MemoryRecorder q4_0 = run("q4_0");
    EXPECT_DOUBLE_EQ(q4_0.value("tokens_per_s"), 22.6);
    EXPECT_DOUBLE_EQ(q4_0.value("prefill_tokens_per_s"), 200);
    EXPECT_DOUBLE_EQ(q4_0.value("each_tokens_per_s", {{"engine", "llama.cpp"}, {"type", "q4_0"}}),
                     20);
    const MemoryRecorder q8_0 = run("q8_0");
    EXPECT_DOUBLE_EQ(q8_0.value("tokens_per_s"), 20);
    EXPECT_EQ(q8_0.value("crashes", {{"engine", "ik_llama.cpp"}, {"type", "q8_0"}}), 2);
    EXPECT_THROW(q8_0.value("each_tokens_per_s", {{"engine", "ik_llama.cpp"}, {"type", "q8_0"}}),
                 std::out_of_range);
}

// What both sides read: any type, whose loops give a batch the bits of requests alone.
TEST(RandomModelFile, IsReadInEveryType) {
    const testing::TemporaryFolder folder;
    for (const nn::TensorType type :
         {nn::TensorType::q4_0, nn::TensorType::q4_1, nn::TensorType::q8_0}) {
        const std::filesystem::path path = folder / "model.gguf";
        const std::uint64_t bytes =
            write_random_model(path, {.layers = 2, .vocabulary = 512, .type = type}, 1);
        const nn::TensorFile file(path);
        const nn::DecoderConfig config = nn::read_decoder_config(file);
        EXPECT_EQ(config.layers, 2);
        EXPECT_EQ(bytes, nn::stored_bytes(type, 512 * 512 + 2 * 3 * 1024 * 1024));
        EXPECT_NO_THROW(back_ends_of(file, {.threads = 1, .blocks = 4})());
    }
}

}  // namespace
}  // namespace assay::decode
