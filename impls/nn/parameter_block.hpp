// Parameters, gradients and Adam moments of one unit of state (an expert, or everything that is not
// an expert), each in one flat buffer: the unit that is updated, reduced, transferred,
// checkpointed, hashed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::nn {

struct ParameterSpec {
    std::string name;
    std::vector<std::int64_t> shape;
    double stddev = 0;  ///< of the normal initial values; 0: constant
    double constant = 0;
};

/// How initial values are drawn.
enum class Draw {
    by_name,    ///< a function of (seed, name of the block, name of the parameter) alone, so that
                ///< any worker makes the same block without hearing from another, on any device
    on_device,  ///< by the device's own generator, whatever the seed: quicker where a model is
                ///< large and only its time counts
};

class ParameterBlock {
  public:
    ParameterBlock(std::string name, std::span<const ParameterSpec> specs, at::ScalarType dtype,
                   std::uint64_t seed, at::Device device = at::kCPU, Draw draw = Draw::by_name);

    const std::string& name() const { return name_; }

    /// The i-th parameter, in the order of the specs: a leaf whose gradient lands in grad().
    const at::Tensor& operator[](std::size_t i) const { return leaves_[i]; }

    std::int64_t count() const { return values_.numel(); }  ///< elements
    at::Tensor& values() { return values_; }                ///< [count]
    at::Tensor& grad() { return grad_; }
    at::Tensor& first_moment() { return first_moment_; }
    at::Tensor& second_moment() { return second_moment_; }

    /// Its parameters keep their values from now on: they ask for no gradients, and the memory of
    /// gradients and moments is given back. A frozen block is not to be trained.
    void freeze();
    bool frozen() const { return !leaves_.empty() && !leaves_.front().requires_grad(); }

    void zero_grad();
    void zero_moments();

    /// The state that survives a step: values and both moments, in this order; 3 * count()
    /// elements.
    std::vector<at::Tensor> state() const { return {values_, first_moment_, second_moment_}; }
    std::int64_t state_count() const { return 3 * count(); }
    void copy_state_from(const ParameterBlock& other);

    /// 64-bit hash of the bytes of state(). Equal bits, equal digest.
    std::uint64_t digest() const;

  private:
    std::string name_;
    at::Tensor values_, grad_, first_moment_, second_moment_;
    std::vector<at::Tensor> leaves_;
};

/// Of Adam (Kingma & Ba, arXiv 1412.6980, algorithm 1).
struct AdamOptions {
    double learning_rate = 2e-3;
    double beta1 = 0.9;
    double beta2 = 0.95;
    double epsilon = 1e-8;
};

/// Applies block.grad() as update number `t` (1-based, equal for every block of the model).
void adam_update(ParameterBlock& block, std::int64_t t, const AdamOptions& options);

}  // namespace assay::nn
