#include "impls/nn/moe/grouped_experts.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

namespace assay::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The rows of each expert by its weight [out, in], transposed. `ends`: the last row of each and
/// one, int32.
struct GroupedLinear : torch::autograd::Function<GroupedLinear> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& rows,
                              const at::Tensor& ends, const std::vector<std::int64_t>& counts,
                              at::TensorList weights) {
        const auto all = at::stack(weights);  // [experts, out, in]
        context->save_for_backward({rows, ends, all});
        context->saved_data["counts"] = counts;
        return at::_grouped_mm(rows, all.transpose(1, 2), ends);
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const auto &rows = saved[0], &ends = saved[1], &all = saved[2];
        const auto gradient = gradients[0].contiguous();
        variable_list results{at::_grouped_mm(gradient, all, ends), at::Tensor(), at::Tensor()};
        const auto of_weights = at::_grouped_mm(gradient.t(), rows, ends).unbind();
        const auto counts = context->saved_data["counts"].toIntVector();
        // What a product over no rows leaves is not said.
        for (std::size_t i = 0; i < counts.size(); ++i)
            results.push_back(counts[i] > 0 ? of_weights[i] : at::Tensor());
        return results;
    }
};

}  // namespace

at::Tensor grouped_expert_forward(const std::vector<const ParameterBlock*>& experts,
                                  const at::Tensor& rows, const std::vector<std::int64_t>& counts) {
    std::vector<std::int32_t> ends;
    std::int64_t end = 0;
    for (const auto count : counts) ends.push_back(static_cast<std::int32_t>(end += count));
    if (end == 0) return rows.clone();
    const auto until = at::tensor(ends, at::kInt).to(rows.device());
    const auto product = [&](const at::Tensor& of, std::size_t parameter) {
        std::vector<at::Tensor> weights;
        for (const auto* expert : experts) weights.push_back((*expert)[parameter]);
        return GroupedLinear::apply(of, until, counts, at::TensorList(weights));
    };
    return product(at::silu(product(rows, 0)) * product(rows, 1), 2);
}

}  // namespace assay::nn
