#include "impls/dr_post_training/method/scoring.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "impls/nn/hashes.hpp"

namespace assay::dr_post_training {
namespace {

at::Tensor tokens_of(const at::Tensor& rows) { return rows.reshape({-1, rows.size(-1)}); }

at::Tensor in_double(const at::Tensor& numbers) { return numbers.to(at::kDouble); }

at::Tensor gaussian(std::int64_t from, std::int64_t to, std::uint64_t seed,
                    const at::TensorOptions& options) {
    auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
    return at::normal(0.0, 1 / std::sqrt(static_cast<double>(to)), {from, to}, generator,
                      at::TensorOptions().dtype(at::kFloat))
        .to(options);
}

/// Sums of each row's products, not in fewer than 24 bits.
at::Tensor sums_by_row(const at::Tensor& products, std::int64_t rows) {
    const auto type = products.scalar_type() == at::kBFloat16 ? at::kFloat : products.scalar_type();
    return products.view({rows, -1}).sum(at::IntArrayRef{1}, /*keepdim=*/false, type);
}

/// Σ over tokens of each row's products with the summed gradient of the target.
at::Tensor through_target_gradient(const Traffic& rows, const Traffic& target) {
    const auto input = tokens_of(rows.input), output = tokens_of(rows.output_grad);
    const auto gradient = summed_gradient(target);
    const auto products = at::mm(input, gradient.t()).mul_(output);
    return sums_by_row(products, rows.rows());
}

at::Tensor through_tokens(const Traffic& rows, const Traffic& target) {
    auto products = at::mm(tokens_of(rows.output_grad), tokens_of(target.output_grad).t());
    products.mul_(at::mm(tokens_of(rows.input), tokens_of(target.input).t()));
    return sums_by_row(products, rows.rows());
}

at::Tensor bias_scores(const Traffic& rows, const Traffic& target) {
    return at::mv(rows.output_grad.sum(1), tokens_of(target.output_grad).sum(0));
}

}  // namespace

Traffic Traffic::part(std::int64_t first, std::int64_t count) const {
    return {input.narrow(0, first, count), output_grad.narrow(0, first, count)};
}

at::Tensor row_gradients(const Traffic& rows) {
    return at::bmm(rows.output_grad.transpose(1, 2), rows.input);
}

at::Tensor summed_gradient(const Traffic& rows) {
    return at::mm(tokens_of(rows.output_grad).t(), tokens_of(rows.input));
}

at::Tensor scores(Scoring backend, const Traffic& all, std::int64_t general, bool bias) {
    return scores(backend, all.part(0, general), all.part(general, all.rows() - general), bias);
}

at::Tensor scores(Scoring backend, const Traffic& rows, const Traffic& target, bool bias) {
    at::Tensor found;
    switch (backend) {
        case Scoring::direct:
            found = at::mv(row_gradients(rows).view({rows.rows(), -1}),
                           summed_gradient(target).view(-1));
            break;
        case Scoring::gip:
            found = through_tokens(rows, target);
            break;
        case Scoring::pip:
            found = through_target_gradient(rows, target);
            break;
        case Scoring::compressed:
            throw std::logic_error("compressed scores need a Compression");
    }
    return in_double(bias ? found + bias_scores(rows, target) : found);
}

at::Tensor gram(const Traffic& rows, bool bias) {
    const auto gradients = row_gradients(rows).view({rows.rows(), -1});
    auto products = at::mm(gradients, gradients.t());
    if (bias) {
        const auto of_bias = rows.output_grad.sum(1);
        products.addmm_(of_bias, of_bias.t());
    }
    return in_double(products);
}

Compression::Compression(std::int64_t outputs, std::int64_t inputs, std::int64_t a, std::int64_t b,
                         std::uint64_t seed, const at::TensorOptions& options)
    : of_outputs_(gaussian(outputs, std::min(a, outputs), nn::counter_hash(seed), options)),
      of_inputs_(gaussian(inputs, std::min(b, inputs), nn::counter_hash(seed + 1), options)) {}

at::Tensor Compression::compressed_gradients(const Traffic& rows) const {
    return at::bmm(at::matmul(rows.output_grad, of_outputs_).transpose(1, 2),
                   at::matmul(rows.input, of_inputs_));
}

at::Tensor Compression::scores(const Traffic& all, std::int64_t general, bool bias) const {
    const auto targets = all.rows() - general;
    const auto compressed = compressed_gradients(all).view({all.rows(), -1});
    const auto found =
        at::mv(compressed.narrow(0, 0, general), compressed.narrow(0, general, targets).sum(0));
    return in_double(bias ? found + bias_scores(all.part(0, general), all.part(general, targets))
                          : found);
}

at::Tensor Compression::scores(const Traffic& rows, const Traffic& target, bool bias) const {
    const auto of_rows = compressed_gradients(rows).view({rows.rows(), -1});
    const auto found = at::mv(of_rows, compressed_gradients(target).sum(0).view(-1));
    return in_double(bias ? found + bias_scores(rows, target) : found);
}

}  // namespace assay::dr_post_training
