#include "impls/nn/parameter_block.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include "impls/nn/hashes.hpp"

namespace assay::nn {

ParameterBlock::ParameterBlock(std::string name, std::span<const ParameterSpec> specs,
                               at::ScalarType dtype, std::uint64_t seed, at::Device device,
                               Draw draw)
    : name_(std::move(name)) {
    std::int64_t total = 0;
    for (const auto& spec : specs) total += c10::multiply_integers(spec.shape);
    const auto options = at::TensorOptions().dtype(dtype).device(device);
    values_ = at::empty({total}, options);
    grad_ = at::zeros({total}, options);
    first_moment_ = at::zeros({total}, options);
    second_moment_ = at::zeros({total}, options);

    std::int64_t offset = 0;
    for (const auto& spec : specs) {
        const auto size = c10::multiply_integers(spec.shape);
        auto part = values_.narrow(0, offset, size);
        if (spec.stddev > 0 && draw == Draw::on_device) {
            part.normal_(0.0, spec.stddev);
        } else if (spec.stddev > 0) {
            const std::string key = name_ + "/" + spec.name;
            auto generator = at::make_generator<at::CPUGeneratorImpl>(hash_text(key, seed));
            // Drawn in double whatever the dtype: float32 and float64 models start alike.
            part.copy_(at::normal(0.0, spec.stddev, {size}, generator,
                                  at::TensorOptions().dtype(at::kDouble)));
        } else {
            part.fill_(spec.constant);
        }
        auto leaf = part.view(spec.shape).detach().requires_grad_(true);
        leaf.mutable_grad() = grad_.narrow(0, offset, size).view(spec.shape);
        leaves_.push_back(std::move(leaf));
        offset += size;
    }
}

void ParameterBlock::freeze() {
    for (at::Tensor& leaf : leaves_) {
        leaf.requires_grad_(false);
        leaf.mutable_grad() = at::Tensor();
    }
    for (at::Tensor* part : {&grad_, &first_moment_, &second_moment_})
        *part = at::empty({0}, values_.options());
}

void ParameterBlock::zero_grad() { grad_.zero_(); }

void ParameterBlock::zero_moments() {
    first_moment_.zero_();
    second_moment_.zero_();
}

void ParameterBlock::copy_state_from(const ParameterBlock& other) {
    values_.copy_(other.values_);
    first_moment_.copy_(other.first_moment_);
    second_moment_.copy_(other.second_moment_);
}

std::uint64_t ParameterBlock::digest() const {
    std::uint64_t hash = hash_start;
    for (const auto& part : state()) {
        const auto here = part.cpu();
        hash = hash_bytes(here.const_data_ptr(), here.nbytes(), hash);
    }
    return hash;
}

void adam_update(ParameterBlock& block, std::int64_t t, const AdamOptions& options) {
    at::NoGradGuard no_grad;
    // The fused kernel reads and writes each element once; AdamW without weight decay is Adam.
    const auto step = at::full({}, t, block.values().options().dtype(at::kFloat));
    at::_fused_adamw_({block.values()}, {block.grad()}, {block.first_moment()},
                      {block.second_moment()}, {}, {step}, options.learning_rate, options.beta1,
                      options.beta2, /*weight_decay=*/0, options.epsilon, /*amsgrad=*/false,
                      /*maximize=*/false);
}

}  // namespace assay::nn
