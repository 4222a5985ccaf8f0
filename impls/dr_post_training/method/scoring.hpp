// Scores and gradients of single rows in one linear map, from what a backward pass has at hand: the
// map's inputs and the gradients of its outputs (§2.1 of the specification).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "impls/dr_post_training/policy/costs.hpp"

namespace assay::dr_post_training {

/// Inputs x [rows, T, I] of a linear map, and the gradients [rows, T, O] of a loss with respect to
/// its outputs.
struct Traffic {
    at::Tensor input;
    at::Tensor output_grad;

    std::int64_t rows() const { return input.size(0); }
    /// Rows first … first + count − 1.
    Traffic part(std::int64_t first, std::int64_t count) const;
};

/// Σ_s output_grad[b, s]ᵀ·input[b, s], for each row: [rows, O, I].
at::Tensor row_gradients(const Traffic&);
/// The same summed over rows: [O, I], the gradient of the weight.
at::Tensor summed_gradient(const Traffic&);

/// <gradient of row b, summed gradient of the target> for each b of the first `general` rows; the
/// others are the target's. double [general]. With `bias`, that of the bias is part of the
/// gradients. Holds what policy/costs.hpp says while it computes. Not for Scoring::compressed.
at::Tensor scores(Scoring, const Traffic& all, std::int64_t general, bool bias);
/// The same where the target's rows ran by themselves, and may be of another length.
at::Tensor scores(Scoring, const Traffic& rows, const Traffic& target, bool bias);

/// <gradient of row b, gradient of row c>: double [rows, rows].
at::Tensor gram(const Traffic& rows, bool bias);

/// Projects inputs to b and outputs to a dimensions by Gaussian matrices, drawn from (seed, I, O):
/// the mean of a product of two projected gradients over draws is the product itself. Never to more
/// dimensions than there are.
class Compression {
  public:
    Compression(std::int64_t outputs, std::int64_t inputs, std::int64_t a, std::int64_t b,
                std::uint64_t seed, const at::TensorOptions& options);
    /// [rows, a, b]
    at::Tensor compressed_gradients(const Traffic&) const;
    /// As scores(), with both sides projected.
    at::Tensor scores(const Traffic& all, std::int64_t general, bool bias) const;
    at::Tensor scores(const Traffic& rows, const Traffic& target, bool bias) const;

  private:
    at::Tensor of_outputs_, of_inputs_;  // [O, a], [I, b]
};

}  // namespace assay::dr_post_training
