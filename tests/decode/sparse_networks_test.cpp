// Sparse feed-forward networks in the forward pass, against the reference decoder with the same
// neurons left out.
#include "suite/base/error.hpp"
#include "tests/decode/toy_networks.hpp"

namespace assay::decode {
namespace {

nn::ToyModel model_of(bool llama) {
    return toy_sparse_model(llama ? nn::toy_llama_config() : nn::toy_gpt2_config(), 21);
}

double router_logit(int layer, int expert, const Row& x) {
    const std::vector<float> router = toy_router(layer, static_cast<int>(x.size()));
    double logit = 0;
    for (std::size_t c = 0; c < x.size(); ++c)
        logit +=
            static_cast<double>(router[static_cast<std::size_t>(expert) * x.size() + c]) * x[c];
    return logit;
}

class Sparse : public testing::TestWithParam<bool> {
  protected:
    nn::ToyModel model = model_of(GetParam());
    nn::TensorFile file = toy_file(model);
    std::vector<int> ids = random_ids(19, model.config.vocabulary, 22);
};

TEST_P(Sparse, AsTheReferenceWithoutTheInactiveNeurons) {
    constexpr float threshold = 0.01f;
    ReferenceDecoder reference(model);
    int computed = 0, skipped = 0;
    reference.takes_part = [&](int layer, int neuron, const Row& x) {
        const bool active = router_logit(layer, neuron / toy_expert_size, x) > threshold;
        ++(active ? computed : skipped);
        return active;
    };
    const auto expected = reference.logits(ids);
    ASSERT_GT(computed, skipped / 4);
    ASSERT_GT(skipped, computed / 4);

    for (const int threads : {1, 2}) {
        LoneSequence sequence(with_networks(file, toy_sparse_layers(model, threshold)), threads);
        expect_near(sequence.feed(std::span(ids).first(17)), expected[16], 2e-5);
        expect_near(sequence.feed(std::span(ids).subspan(17, 1)), expected[17], 2e-5);
        expect_near(sequence.feed(std::span(ids).subspan(18, 1)), expected[18], 2e-5);
    }
}

TEST_P(Sparse, AllExpertsAreTheDenseNetwork) {
    LoneSequence dense(file), sparse(with_networks(file, toy_sparse_layers(model, -1e30f)));
    const std::vector<float> expected = copy_of(dense.feed(ids));
    expect_near(sparse.feed(ids), Row(expected.begin(), expected.end()), 1e-5);
}

TEST_P(Sparse, BytesAreThoseOfTheActiveExperts) {
    LoneSequence whole(file);
    whole.feed(ids);
    const auto last = std::span(ids).last(1);
    whole.feed(last);
    const std::uint64_t dense = whole.bytes();
    const std::uint64_t matrices = GetParam() ? 3 : 2, biases = GetParam() ? 0 : 1;
    const std::uint64_t layers = 2, row = 64 * 4;
    const std::uint64_t routers = layers * toy_experts * row;
    const std::uint64_t expert = layers * toy_expert_size * (matrices * row + biases * 4);
    for (const int count : {0, 2, toy_experts}) {
        LoneSequence sequence(
            with_networks(file, toy_sparse_layers(model, 0), RandomExperts{count, 3}));
        sequence.feed(ids);
        sequence.feed(last);
        EXPECT_EQ(sequence.bytes(),
                  dense + routers - static_cast<std::uint64_t>(toy_experts - count) * expert);
    }
}

// Tokens beside each other read an expert once.
TEST_P(Sparse, BytesOfManyTokensAreThoseOfTheExpertsThatAnyHas) {
    LoneSequence sequence(with_networks(file, toy_sparse_layers(model, 0), RandomExperts{2, 3})),
        all(with_networks(file, toy_sparse_layers(model, -1e30f)));
    const auto some = std::span(ids).first(12);
    sequence.feed(some);
    all.feed(some);
    EXPECT_EQ(sequence.bytes(), all.bytes());
}

TEST_P(Sparse, RandomExpertsDependOnSeedAndPositionAlone) {
    const auto run = [&](std::uint64_t seed, bool stepwise) {
        LoneSequence sequence(
            with_networks(file, toy_sparse_layers(model, 0), RandomExperts{2, seed}));
        if (!stepwise) return copy_of(sequence.feed(ids));
        std::vector<float> last;
        for (const int& id : ids) last = copy_of(sequence.feed({&id, 1}));
        return last;
    };
    const std::vector<float> once = run(1, false);
    EXPECT_NE(run(2, false), once);
    const std::vector<float> steps = run(1, true);
    expect_near(steps, Row(once.begin(), once.end()), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Families, Sparse, testing::Bool());

TEST(SparseLayers, ThatDoNotFitAreRefused) {
    const nn::ToyModel model = model_of(true);
    const nn::TensorFile file = toy_file(model);
    const auto expect_refused = [&](const auto& change) {
        std::vector<SparseLayer> layers = toy_sparse_layers(model, 0);
        change(layers);
        EXPECT_THROW(with_networks(file, layers), UserError);
    };
    expect_refused([](auto& layers) { layers.pop_back(); });
    expect_refused([](auto& layers) { layers[1].experts = 4; });
    expect_refused([](auto& layers) { layers[1].type = ASSAY_Q8_0; });
    expect_refused([](auto& layers) { layers[0].gate.clear(); });
    expect_refused([](auto& layers) { layers[0].router.pop_back(); });
    expect_refused([](auto& layers) { layers[0].up_bias = {1}; });
    EXPECT_THROW(
        with_networks(file, toy_sparse_layers(model, 0), RandomExperts{toy_experts + 1, 1}),
        UserError);
}

}  // namespace
}  // namespace assay::decode
