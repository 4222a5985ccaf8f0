// Files that say which neurons they leave out: LTE's routers, the thresholds of CATS and TEAL.
#include <functional>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"
#include "tests/decode/toy_networks.hpp"

namespace assay::decode {
namespace {

constexpr float least_logit = 0.01f;

nn::ToyModel model_of(bool llama) {
    return toy_sparse_model(llama ? nn::toy_llama_config() : nn::toy_gpt2_config(), 41);
}

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

void add_router(nn::GgufWriter& writer, int layer, int width) {
    writer.tensor("blk." + std::to_string(layer) + ".ffn_router.weight", {toy_experts, width},
                  nn::TensorType::f32, bytes_of(toy_router(layer, width)));
}

nn::GgufWriter with_routers(const nn::ToyModel& model) {
    nn::GgufWriter writer = nn::gguf_of(model);
    writer.put("assay.sparse.method", std::string("lte"));
    writer.put("assay.sparse.expert_size", std::uint32_t{toy_expert_size});
    writer.put("assay.sparse.logit_threshold", least_logit);
    for (int layer = 0; layer < model.config.layers; ++layer)
        add_router(writer, layer, model.config.width);
    return writer;
}

nn::GgufWriter with_thresholds(const nn::ToyModel& model, const std::string& method,
                               const std::vector<float>& first, const std::vector<float>& second) {
    nn::GgufWriter writer = nn::gguf_of(model);
    writer.put("assay.sparse.method", method);
    writer.put_list(
        method == "cats" ? "assay.sparse.gate_thresholds" : "assay.sparse.input_thresholds", first);
    if (method == "teal") writer.put_list("assay.sparse.hidden_thresholds", second);
    return writer;
}

nn::TensorFile file_of(const nn::GgufWriter& writer) {
    return nn::TensorFile::in_memory(writer.bytes(), "toy");
}

class SparseFile : public testing::TestWithParam<bool> {
  protected:
    nn::ToyModel model = model_of(GetParam());
    std::vector<int> ids = random_ids(19, model.config.vocabulary, 42);

    std::vector<float> after(LoneSequence& sequence) const { return copy_of(sequence.feed(ids)); }
    void expect_same(LoneSequence& sequence, const std::vector<float>& expected) const {
        expect_near(sequence.feed(ids), Row(expected.begin(), expected.end()), 1e-5);
    }
    /// That one more token reads.
    std::uint64_t bytes_of_next(LoneSequence& sequence) const {
        sequence.feed(std::span(ids).first(1));
        return sequence.bytes();
    }
};

TEST_P(SparseFile, RoutersAreThoseThatTheNetworksAreGiven) {
    LoneSequence given(with_networks(toy_file(model), toy_sparse_layers(model, least_logit)));
    const auto expected = after(given);
    const nn::TensorFile file = file_of(with_routers(model));
    LoneSequence read(file);
    EXPECT_EQ(after(read), expected);
    EXPECT_EQ(bytes_of_next(read), bytes_of_next(given));
    // Off: the dense network.
    LoneSequence dense(toy_file(model)), off(file, {.sparse = false});
    EXPECT_EQ(after(off), after(dense));
}

// A bias of a router moves the threshold of its experts.
TEST_P(SparseFile, ABiasIsAddedToTheLogits) {
    auto layers = toy_sparse_layers(model, least_logit);
    for (auto& layer : layers) layer.router_bias.assign(toy_experts, 0.02f);
    LoneSequence moved(
        with_networks(toy_file(model), toy_sparse_layers(model, least_logit - 0.02f)));
    const auto expected = after(moved);
    LoneSequence biased(with_networks(toy_file(model), std::move(layers)));
    expect_same(biased, expected);
}

TEST_P(SparseFile, CatsLeavesOutNeuronsWithSmallGates) {
    const std::vector<float> least{0.05f, 0.1f};
    ReferenceDecoder reference(model);
    int computed = 0, skipped = 0;
    reference.takes_part = [&](int layer, int neuron, const Row& x) {
        const std::string prefix = "layer" + std::to_string(layer) + "/";
        const bool gated = model.config.family == nn::Family::llama;
        const auto& weights = model.parameters.at(prefix + (gated ? "gate" : "up"));
        double sum = 0;
        for (std::size_t c = 0; c < x.size(); ++c)
            sum += x[c] *
                   static_cast<double>(weights[static_cast<std::size_t>(neuron) * x.size() + c]);
        if (!gated)
            sum += static_cast<double>(
                model.parameters.at(prefix + "up_bias")[static_cast<std::size_t>(neuron)]);
        const double cubic = std::sqrt(2 / std::acos(-1.0)) * (sum + 0.044715 * sum * sum * sum);
        const double through =
            gated ? sum / (1 + std::exp(-sum)) : 0.5 * sum * (1 + std::tanh(cubic));
        const bool part =
            std::abs(through) > static_cast<double>(least[static_cast<std::size_t>(layer)]);
        ++(part ? computed : skipped);
        return part;
    };
    const auto expected = reference.logits(ids);
    ASSERT_GT(computed, skipped / 9);
    ASSERT_GT(skipped, computed / 9);
    const nn::TensorFile file = file_of(with_thresholds(model, "cats", least, {}));
    for (const int threads : {1, 2}) {
        LoneSequence sequence(file, {}, threads), dense(file, {.sparse = false}, threads);
        expect_near(sequence.feed(std::span(ids).first(18)), expected[17], 2e-5);
        expect_near(sequence.feed(std::span(ids).subspan(18, 1)), expected[18], 2e-5);
        dense.feed(std::span(ids).first(18));
        dense.feed(std::span(ids).subspan(18, 1));
        EXPECT_LT(sequence.bytes(), dense.bytes());
    }
}

TEST_P(SparseFile, ThresholdsThatNothingFallsUnderAreTheDenseNetwork) {
    LoneSequence dense(toy_file(model));
    const auto expected = after(dense);
    const std::uint64_t bytes = bytes_of_next(dense);
    for (const char* const method : {"cats", "teal"}) {
        LoneSequence sequence(file_of(with_thresholds(model, method, {-1, -1}, {-1, -1})));
        expect_same(sequence, expected);
        // Less where an input is 0 exactly.
        const std::uint64_t own = bytes_of_next(sequence);
        EXPECT_LE(own, bytes) << method;
        EXPECT_GT(own, 0.9 * static_cast<double>(bytes));
    }
}

// A token's result hangs neither on the tokens beside it nor on the threads: bit for bit.
TEST_P(SparseFile, ThresholdsGiveTheSameTokenByToken) {
    for (const char* const method : {"cats", "teal"}) {
        const nn::TensorFile file =
            file_of(with_thresholds(model, method, {0.2f, 0.2f}, {0.02f, 0.02f}));
        LoneSequence at_once(file, {}, 2), one_by_one(file, {}, 1);
        const auto expected = after(at_once);
        std::vector<float> last;
        for (const int& id : ids) last = copy_of(one_by_one.feed({&id, 1}));
        EXPECT_EQ(last, expected) << method;
        LoneSequence dense(file, {.sparse = false});
        EXPECT_NE(after(dense), expected) << method;
        EXPECT_LT(bytes_of_next(one_by_one), bytes_of_next(dense)) << method;
    }
}

TEST_P(SparseFile, ThresholdsGiveTheSameBitsOnAnyNumberOfThreads) {
    for (const char* const method : {"cats", "teal"}) {
        const nn::TensorFile file =
            file_of(with_thresholds(model, method, {0.05f, 0.1f}, {0.02f, 0.02f}));
        LoneSequence one(file, {}, 1), three(file, {}, 3);
        EXPECT_EQ(after(one), after(three)) << method;
        EXPECT_EQ(one.bytes(), three.bytes()) << method;
    }
}

INSTANTIATE_TEST_SUITE_P(Families, SparseFile, testing::Bool());

std::string refusal(const nn::GgufWriter& writer) {
    try {
        load_model(file_of(writer), {});
    } catch (const UserError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(SparseFiles, ThatContradictThemselvesAreRefused) {
    const nn::ToyModel model = model_of(true);
    const auto expect_refused = [&](const nn::GgufWriter& writer, const std::string& why) {
        EXPECT_NE(refusal(writer).find(why), std::string::npos) << refusal(writer);
    };
    EXPECT_EQ(refusal(with_routers(model)), "accepted");
    auto unknown = nn::gguf_of(model);
    unknown.put("assay.sparse.method", std::string("prophecy"));
    expect_refused(unknown, "assay.sparse.method is \"prophecy\"");

    auto untold = nn::gguf_of(model);
    add_router(untold, 0, model.config.width);
    expect_refused(untold, "it holds routers, but no assay.sparse.method");

    auto cut_off = with_routers(model);
    cut_off.tensors.pop_back();
    expect_refused(cut_off, "blk.1.ffn_router.weight");
    auto narrow = with_routers(model);
    narrow.tensors.back().shape[1] /= 2;
    narrow.tensors.back().bytes.resize(narrow.tensors.back().bytes.size() / 2);
    expect_refused(narrow, "blk.1.ffn_router.weight");

    auto uneven = nn::gguf_of(model);
    uneven.put("assay.sparse.method", std::string("lte"));
    uneven.put("assay.sparse.expert_size", std::uint32_t{7});
    expect_refused(uneven, "assay.sparse.expert_size is 7");

    expect_refused(with_thresholds(model, "cats", {0.1f}, {}), "no list of 2 thresholds");
    expect_refused(with_thresholds(model, "teal", {0.1f, NAN}, {0.1f, 0.1f}), "finite numbers");
}

}  // namespace
}  // namespace assay::decode
