#include "impls/rl/method/advantages.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>

#include "suite/base/error.hpp"

namespace assay::rl {
namespace {

struct Moments {
    double mean = 0, deviation = 0;
};

Moments moments(std::span<const double> values) {
    Moments of;
    for (const double value : values) of.mean += value / static_cast<double>(values.size());
    for (const double value : values) of.deviation += (value - of.mean) * (value - of.mean);
    if (values.size() > 1)
        of.deviation = std::sqrt(of.deviation / static_cast<double>(values.size() - 1));
    return of;
}

bool all_equal(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; });
}

}  // namespace

GroupAdvantages advantages_of(std::span<const double> rewards, Estimator estimator) {
    if (rewards.empty()) throw std::invalid_argument("a group has at least one reward");
    for (const double reward : rewards)
        if (!std::isfinite(reward)) throw std::invalid_argument("a reward is a finite number");
    GroupAdvantages group{.advantages = std::vector<double>(rewards.size(), 0.0),
                          .mean = rewards.front(),
                          .zero_variance = all_equal(rewards)};
    if (group.zero_variance) return group;  // not by sums: a mean of equal numbers may be another

    const auto [mean, deviation] = moments(rewards);
    if (!std::isfinite(deviation))
        throw UserError("the rewards of a group are too large to add up; scale them down");
    group.mean = mean;
    group.std = deviation;
    const auto others = static_cast<double>(rewards.size() - 1);
    const double sum = std::accumulate(rewards.begin(), rewards.end(), 0.0);
    for (std::size_t i = 0; i < rewards.size(); ++i) {
        switch (estimator) {
            case Estimator::grpo:
                group.advantages[i] = (rewards[i] - mean) / (deviation + 1e-6);
                break;
            case Estimator::dr_grpo:
                group.advantages[i] = rewards[i] - mean;
                break;
            case Estimator::rloo:
                group.advantages[i] = rewards[i] - (sum - rewards[i]) / others;
                break;
        }
    }
    return group;
}

std::vector<double> group_relative(std::span<const double> rewards, int group) {
    const auto size = static_cast<std::size_t>(group);
    if (group < 2 || rewards.size() % size != 0)
        throw std::invalid_argument("rewards come in groups of two and more");
    std::vector<double> advantages;
    for (std::size_t first = 0; first < rewards.size(); first += size) {
        const auto of_group = advantages_of(rewards.subspan(first, size), Estimator::grpo);
        advantages.insert(advantages.end(), of_group.advantages.begin(), of_group.advantages.end());
    }
    return advantages;
}

std::vector<double> batch_normalised(std::span<const double> rewards) {
    std::vector<double> advantages(rewards.begin(), rewards.end());
    if (rewards.empty()) return advantages;
    const auto [mean, deviation] = moments(rewards);
    const bool equal = all_equal(rewards);
    for (double& advantage : advantages)
        advantage = equal ? advantage - 0.5 : (advantage - mean) / deviation;
    return advantages;
}

Estimates generalised(std::span<const double> rewards, std::span<const double> values, double gamma,
                      double lambda) {
    if (rewards.size() != values.size())
        throw std::invalid_argument("a reward and a value for every token");
    Estimates estimates{std::vector<double>(rewards.size()), std::vector<double>(rewards.size())};
    double later = 0, next_value = 0;
    for (std::size_t t = rewards.size(); t-- > 0;) {
        later = rewards[t] + gamma * next_value - values[t] + gamma * lambda * later;
        estimates.advantages[t] = later;
        estimates.returns[t] = later + values[t];
        next_value = values[t];
    }
    return estimates;
}

void AdaptiveKl::update(double kl, double answers) {
    const double error = std::clamp(kl / target_ - 1, -0.2, 0.2);
    coefficient_ *= 1 + error * answers / horizon_;
}

}  // namespace assay::rl
