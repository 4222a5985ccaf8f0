// How much better than expected: what turns rewards into weights of log-probabilities. Plain
// numbers, no libtorch.
#pragma once

#include <span>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::rl {

/// Of a reward r in a group of N:
///   grpo     (r − mean) / (std + 1e-6), std with N − 1 (Shao et al., arXiv 2402.03300, 4.1.2)
///   dr_grpo  r − mean (Liu et al., arXiv 2503.20783)
///   rloo     r less the mean of the others (Ahmadian et al., arXiv 2402.14740)
enum class Estimator { grpo, dr_grpo, rloo };
ASSAY_NAMES(Estimator, grpo, dr_grpo, rloo)

struct GroupAdvantages {
    std::vector<double> advantages;  ///< one for each reward
    double mean = 0, std = 0;        ///< of the rewards, std with N − 1; 0 for one reward
    bool zero_variance = false;      ///< all rewards are equal, or there is one: all advantages 0
};

/// `rewards`: those of the responses to one prompt. Throws std::invalid_argument for an empty group
/// and for rewards that are not finite, UserError where they are so large that a sum is not.
GroupAdvantages advantages_of(std::span<const double> rewards, Estimator estimator);

/// Estimator::grpo of rewards of which each `group` neighbours are one. Throws
/// std::invalid_argument unless group ≥ 2 divides the number of rewards.
std::vector<double> group_relative(std::span<const double> rewards, int group);

/// Less the mean, over the standard deviation, of a whole batch: what the target's direction is
/// weighted with (Dr. Post-Training, arXiv 2605.07063). Where all rewards are equal: reward − 0.5.
std::vector<double> batch_normalised(std::span<const double> rewards);

struct Estimates {
    std::vector<double> advantages, returns;
};
/// Generalised advantage estimation (Schulman et al., arXiv 1506.02438, eq. 16) over one answer:
/// rewards and values of its tokens, nothing after the last. returns = advantages + values.
/// Throws std::invalid_argument where the lengths differ.
Estimates generalised(std::span<const double> rewards, std::span<const double> values,
                      double gamma = 1.0, double lambda = 0.95);

/// The coefficient of the KL penalty, driven towards a KL divergence (Ziegler et al., arXiv
/// 1909.08593, section 2.2): × (1 + clip(kl/target − 1, ±0.2)·answers/horizon) an update.
class AdaptiveKl {
  public:
    AdaptiveKl(double coefficient, double target, double horizon)
        : coefficient_(coefficient), target_(target), horizon_(horizon) {}
    double coefficient() const { return coefficient_; }
    /// kl: mean over `answers` answers, nats.
    void update(double kl, double answers);

  private:
    double coefficient_, target_, horizon_;
};

}  // namespace assay::rl
