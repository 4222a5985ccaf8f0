// Rivals whose routers are trained with the model: noisy top-k softmax gating and σ-MoE.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "impls/lte/rivals/rival.hpp"
#include "impls/nn/parameter_block.hpp"
#include "impls/nn/training/language_model.hpp"

namespace assay::lte {

/// Per token the top `count` experts by a linear router, the outputs weighted by their scores.
class TrainedSelection : public SelectingFeedForward {
  public:
    /// One block per layer. In the order of the layers.
    std::vector<nn::ParameterBlock*> routers();
    /// Noise and dropout only while training.
    void training(bool on) { training_ = on; }
    /// What nn::train_language_model needs to train the routers too. Its draws are a function of
    /// (seed, step, layer); the object must outlive the training.
    virtual nn::TrainedAlong along();

  protected:
    /// `specs`: the parameters of each layer's router, blocks "<name><layer>".
    TrainedSelection(const nn::DecoderConfig&, const char* name,
                     const std::vector<nn::ParameterSpec>& specs, std::uint64_t seed,
                     at::Device device);
    Choice choose(int layer, const at::Tensor& x, const at::Tensor& hidden,
                  const nn::FfnWeights&) final;
    /// x in fp32 or wider. With graph.
    virtual Choice route(int layer, const at::Tensor& x, const nn::ParameterBlock& router) = 0;
    bool is_training() const { return training_; }
    /// A generator of this step's draws for a layer, on the CPU: the same numbers for every device.
    at::Generator draws(int layer) const;

  private:
    std::vector<std::unique_ptr<nn::ParameterBlock>> routers_;
    std::uint64_t seed_;
    std::int64_t step_ = 0;
    bool training_ = false;
};

/// Noisy top-k softmax gating (Shazeer et al., arXiv 1701.06538, section 2.1), trained with the
/// model: outputs weighted by their gate, and the gates of a token sum to one (Fig. 2's failure).
/// Gate and noise weights start at zero, as there; `noise` scales the noise (1: as there; 0: none).
/// Without the balancing losses of section 4 there: LTE does not say that it used them.
class TopKSoftmax : public TrainedSelection {
  public:
    /// Throws UserError when the neurons of a layer are no multiple of the expert size.
    TopKSoftmax(const nn::DecoderConfig&, int expert_size, int count, double noise,
                std::uint64_t seed, at::Device device = at::kCPU);
    /// Mean of the largest gate weight over tokens and layers of the last pass: 1 when one expert
    /// takes all.
    double top_weight() const;

  protected:
    Choice route(int layer, const at::Tensor& x, const nn::ParameterBlock& router) override;

  private:
    int count_;
    double noise_;
    std::vector<double> top_weight_;
};

/// σ-MoE (Csordás et al., EMNLP 2023 Findings, arXiv 2310.10837): sigmoid scores, top `count`
/// experts, outputs weighted by their scores; while training each expert is dropped for a token
/// with probability `dropout` (without rescaling), and `regularisation` times the negative entropy
/// of the experts' mean softmax probability over the batch is added to the loss, for each layer.
/// Rows of a router start with equal norms and the scale of the dense model's input matrices. The
/// authors' defaults are 0.05 and 0.001.
struct SigmaMoeOptions {
    double dropout = 0.05;
    double regularisation = 1e-3;
    std::uint64_t seed = 1;
};
class SigmaMoe : public TrainedSelection {
  public:
    /// Throws UserError when the neurons of a layer are no multiple of the expert size.
    SigmaMoe(const nn::DecoderConfig&, int expert_size, int count, const SigmaMoeOptions&,
             at::Device device = at::kCPU);
    /// Σ p ln p of the mean probabilities of the experts, scalar. logits: [tokens, N]. Its least
    /// value is −ln N, when all experts are equally likely over the batch.
    static at::Tensor negative_entropy(const at::Tensor& logits);

    nn::TrainedAlong along() override;

  protected:
    Choice route(int layer, const at::Tensor& x, const nn::ParameterBlock& router) override;

  private:
    at::Tensor regulariser() const;

    int count_;
    SigmaMoeOptions options_;
    std::vector<at::Tensor> logits_;
};

}  // namespace assay::lte
