// Grouped products against one expert after the other: values, gradients of rows and of weights.
#include "impls/nn/moe/grouped_experts.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "impls/nn/moe/gpt.hpp"

namespace assay::nn {
namespace {

class GroupedExperts : public testing::TestWithParam<at::ScalarType> {
  protected:
    GroupedExperts() {
        const MoeGptConfig config{.width = 16, .hidden = 24, .shape = MoeShape::mixtral};
        for (int i = 0; i < 4; ++i) {
            experts_.push_back(std::make_unique<ParameterBlock>(
                "expert" + std::to_string(i), expert_parameters(config), GetParam(), 3));
            experts_.back()->values().mul_(10);  // away from where SwiGLU is next to nothing
            blocks_.push_back(experts_.back().get());
        }
    }
    struct Computed {
        at::Tensor outputs, row_gradients;
        std::vector<at::Tensor> weight_gradients;
    };
    template <class Forward>
    Computed computed(const at::Tensor& rows, const Forward& forward) {
        for (auto& expert : experts_) expert->zero_grad();
        const auto input = rows.detach().requires_grad_(true);
        const auto outputs = forward(input);
        torch::autograd::backward(
            {outputs}, {at::linspace(-1, 1, outputs.numel()).view(outputs.sizes()).to(outputs)});
        Computed computed{outputs.detach(), input.grad(), {}};
        for (auto& expert : experts_) computed.weight_gradients.push_back(expert->grad().clone());
        return computed;
    }
    std::vector<std::unique_ptr<ParameterBlock>> experts_;
    std::vector<const ParameterBlock*> blocks_;
};
INSTANTIATE_TEST_SUITE_P(Types, GroupedExperts, testing::Values(at::kFloat, at::kBFloat16));

TEST_P(GroupedExperts, AreAsOneAfterTheOther) {
    at::manual_seed(5);
    for (const std::vector<std::int64_t>& counts :
         {std::vector<std::int64_t>{3, 5, 1, 7}, {4, 0, 2, 0}, {0, 0, 0, 6}, {0, 0, 0, 0}}) {
        const auto total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
        const auto rows = at::randn({total, 16}).to(GetParam());
        const auto grouped = computed(rows, [&](const at::Tensor& input) {
            return grouped_expert_forward(blocks_, input, counts);
        });
        const auto one_by_one = computed(rows, [&](const at::Tensor& input) {
            const auto parts = input.split_with_sizes(counts);
            std::vector<at::Tensor> outputs;
            for (std::size_t i = 0; i < blocks_.size(); ++i)
                outputs.push_back(expert_forward(*blocks_[i], parts[i], MoeShape::mixtral));
            return at::cat(outputs);
        });
        // The last bit of bf16 may round otherwise.
        const double tolerance = GetParam() == at::kFloat ? 1e-5 : 0.02;
        const auto expect_equal = [&](const at::Tensor& a, const at::Tensor& b) {
            EXPECT_EQ(a.sizes(), b.sizes());
            EXPECT_TRUE(at::allclose(a.to(at::kFloat), b.to(at::kFloat), tolerance, tolerance))
                << "counts " << at::IntArrayRef(counts);
        };
        expect_equal(grouped.outputs, one_by_one.outputs);
        expect_equal(grouped.row_gradients, one_by_one.row_gradients);
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            expect_equal(grouped.weight_gradients[i], one_by_one.weight_gradients[i]);
            EXPECT_EQ(one_by_one.weight_gradients[i].abs().sum().item<double>() > 0, counts[i] > 0);
        }
    }
}

}  // namespace
}  // namespace assay::nn
