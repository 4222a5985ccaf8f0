// How stage 1 weighs its losses over time: the published constants, and a remedied schedule of ours
// that reaches a requested sparsity.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace assay::lte {

/// Weights of one step.
struct LossWeights {
    double eta = 0;     ///< of the efficiency loss
    double lambda = 0;  ///< of the separability loss
    double eps = 0;     ///< guard of its singularity
};

class Schedule {
  public:
    virtual ~Schedule() = default;
    virtual LossWeights weights(std::int64_t step, std::int64_t steps) const = 0;
    /// After each step: the measured hard sparsity of that step's batch (share of scores <= tau).
    virtual void observe(std::int64_t step, std::int64_t steps, double sparsity) = 0;
    virtual nlohmann::json state() const = 0;  ///< for checkpoints
    virtual void restore(const nlohmann::json&) = 0;
};

/// The paper: eta, lambda constant (lambda = 0.5, tau = 0.5); eps only so that G = tau is no
/// division by zero.
class PublishedSchedule : public Schedule {
  public:
    explicit PublishedSchedule(double eta, double lambda = 0.5, double eps = 1e-2);
    LossWeights weights(std::int64_t, std::int64_t) const override { return weights_; }
    void observe(std::int64_t, std::int64_t, double) override {}
    nlohmann::json state() const override;
    void restore(const nlohmann::json&) override {}

  private:
    LossWeights weights_;
};

/// Ours, an addition: eps falls geometrically from `eps_first` to `eps_last` over the first
/// `anneal` share of the stage, so that scores can cross tau while the barrier is low, and eta is
/// driven so that the measured sparsity follows a ramp to `target`: eta ← eta·exp(gain·(ramp −
/// measured)), clamped.
struct TargetOptions {
    double target = 0.5;
    double lambda = 0.5;
    double eps_first = 1.0, eps_last = 1e-3, anneal = 0.8;
    double eta_first = 0.5, eta_least = 1e-3, eta_most = 1e3;
    double gain = 0.5;
};
class TargetSchedule : public Schedule {
  public:
    explicit TargetSchedule(const TargetOptions& options);
    LossWeights weights(std::int64_t step, std::int64_t steps) const override;
    void observe(std::int64_t step, std::int64_t steps, double sparsity) override;
    nlohmann::json state() const override;
    void restore(const nlohmann::json&) override;

  private:
    TargetOptions options_;
    double eta_;
};

}  // namespace assay::lte
