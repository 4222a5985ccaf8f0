// How much better than expected: what turns rewards into weights of log-probabilities. Plain
// numbers, no libtorch.
#pragma once

#include <span>
#include <vector>

namespace assay::rl {

/// GRPO (Shao et al., arXiv 2402.03300, section 4.1.2): rewards of `group` neighbouring answers to
/// one question, less their mean, over their standard deviation (of the sample, n − 1) plus
/// `epsilon`. A group of equal rewards has advantages of 0. Throws std::invalid_argument unless
/// group ≥ 2 divides the number of rewards.
std::vector<double> group_relative(std::span<const double> rewards, int group,
                                   double epsilon = 1e-6);

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
