// The regularisers of stage 1 (paper Eqs. 4 to 6), exactly and guarded, and how they are weighed
// over time: by the published constants, or by a schedule of ours that reaches a requested
// sparsity.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay::lte {

/// Eq. 4 for one layer, averaged over tokens: mean(G²). scores: [tokens, N].
at::Tensor efficiency_loss(const at::Tensor& scores);

/// Eq. 5 for one layer, averaged over tokens: mean(1 / ((G − tau)² + eps)). The paper has eps = 0,
/// which is singular at G = tau.
at::Tensor separability_loss(const at::Tensor& scores, double tau, double eps);

/// Weights of one step.
struct LossWeights {
    double eta = 0;       ///< of the efficiency loss
    double lambda = 0;    ///< of the separability loss
    double eps = 0;       ///< guard of its singularity
    double centre = 0.5;  ///< the score it pushes away from; the paper: tau
};

class Schedule {
  public:
    virtual ~Schedule() = default;
    virtual LossWeights weights(std::int64_t step, std::int64_t steps) const = 0;
    /// After each step: the scores of its batch by layer, [tokens, N] each, detached.
    virtual void observe(std::int64_t step, std::int64_t steps,
                         const std::vector<at::Tensor>& scores) = 0;
    virtual nlohmann::json state() const = 0;  ///< for checkpoints
    virtual void restore(const nlohmann::json&) = 0;
};

/// The paper: eta, lambda constant (lambda = 0.5, tau = 0.5); eps only so that G = tau is no
/// division by zero.
class PublishedSchedule : public Schedule {
  public:
    explicit PublishedSchedule(double eta, double lambda = 0.5, double tau = 0.5,
                               double eps = 1e-2);
    LossWeights weights(std::int64_t, std::int64_t) const override { return weights_; }
    void observe(std::int64_t, std::int64_t, const std::vector<at::Tensor>&) override {}
    nlohmann::json state() const override;
    void restore(const nlohmann::json&) override {}

  private:
    LossWeights weights_;
};

/// Ours, an addition. Separability pushes scores away from a *moving* centre: the quantile of the
/// scores of all layers below which the requested share lies. So the least useful scores fall and
/// the others rise, whatever their level; no barrier stands in the way of the target, and every
/// layer and token takes a share of its own. eta is a constant.
/// Three phases: until `settle` the guard eps is high, separability weak, and scores take the order
/// in which the task can spare them; until `anneal` eps falls geometrically and opens a gap at the
/// centre; then the centre is held ever closer to tau (in half of what is left of the stage), where
/// the gap is by then.
struct TargetOptions {
    double target = 0.5;  ///< share of inactive experts, over layers and tokens
    double tau = 0.5;
    double eta = 0.2;
    double lambda = 0.5;
    double eps_first = 1.0, eps_last = 1e-2;
    double settle = 0.2, anneal = 0.8;  ///< shares of the stage
    double follow = 0.2;  ///< share of the way to the batch's quantile that the centre goes a step
};
class TargetSchedule : public Schedule {
  public:
    explicit TargetSchedule(const TargetOptions& options);
    LossWeights weights(std::int64_t step, std::int64_t steps) const override;
    void observe(std::int64_t step, std::int64_t steps,
                 const std::vector<at::Tensor>& scores) override;
    nlohmann::json state() const override;
    void restore(const nlohmann::json&) override;

  private:
    TargetOptions options_;
    double quantile_;  ///< smoothed over steps
};

}  // namespace assay::lte
