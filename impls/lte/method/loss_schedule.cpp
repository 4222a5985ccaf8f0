#include "impls/lte/method/loss_schedule.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <cmath>

namespace assay::lte {
namespace {

constexpr double margin = 0.02;  // of a quantile, a share of all scores

}  // namespace

at::Tensor efficiency_loss(const at::Tensor& scores) { return scores.square().mean(); }

at::Tensor separability_loss(const at::Tensor& scores, double tau, double eps) {
    return ((scores - tau).square() + eps).reciprocal().mean();
}

PublishedSchedule::PublishedSchedule(double eta, double lambda, double tau, double eps)
    : weights_{eta, lambda, eps, tau} {}

nlohmann::json PublishedSchedule::state() const { return nlohmann::json::object(); }

TargetSchedule::TargetSchedule(const TargetOptions& options)
    : options_(options), quantile_(options.tau) {}

LossWeights TargetSchedule::weights(std::int64_t step, std::int64_t steps) const {
    const double now =
        static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(steps, 1));
    const auto passed = [now](double from, double to) {
        return std::clamp((now - from) / std::max(to - from, 1e-9), 0.0, 1.0);
    };
    const double eps = options_.eps_first * std::pow(options_.eps_last / options_.eps_first,
                                                     passed(options_.settle, options_.anneal));
    const double reach = 1 - passed(options_.anneal, (1 + options_.anneal) / 2);
    const double centre = options_.tau + std::clamp(quantile_ - options_.tau, -reach, reach);
    return {options_.eta, options_.lambda, eps, centre};
}

void TargetSchedule::observe(std::int64_t, std::int64_t, const std::vector<at::Tensor>& scores) {
    std::vector<at::Tensor> flat;
    for (const auto& layer : scores) flat.push_back(layer.reshape({-1}).to(at::kFloat));
    auto all = at::cat(flat);
    // A GPU selects with a single block of threads, and sorts with all of them.
    const bool sorted = !all.is_cpu();
    if (sorted) all = std::get<0>(all.sort());
    const auto quantile = [&](double share) {
        const auto rank = std::clamp<std::int64_t>(
            std::llround(share * static_cast<double>(all.numel())), 1, all.numel());
        return (sorted ? all[rank - 1] : std::get<0>(all.kthvalue(rank))).item<double>();
    };
    // Between two quantiles: once there is a gap, the middle of it rather than one of its edges.
    const double middle =
        (quantile(options_.target - margin) + quantile(options_.target + margin)) / 2;
    quantile_ += options_.follow * (middle - quantile_);
}

nlohmann::json TargetSchedule::state() const { return {{"quantile", quantile_}}; }

void TargetSchedule::restore(const nlohmann::json& state) { quantile_ = state.at("quantile"); }

}  // namespace assay::lte
