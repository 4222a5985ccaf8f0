#include "impls/lte/method/sparsity.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/histc.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "impls/lte/method/grouping.hpp"

namespace assay::lte {
namespace {

double mean_of(const std::vector<double>& values) {
    if (values.empty()) return 0;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

SparsityStatistics::SparsityStatistics(int layers, bool keep_masks)
    : layers_(static_cast<std::size_t>(layers)), keep_masks_(keep_masks) {}

void SparsityStatistics::add(int layer, const at::Tensor& active) {
    Layer& counted = layers_[static_cast<std::size_t>(layer)];
    const auto mask = active.detach().to(at::kCPU, at::kBool);
    counted.all += static_cast<double>(mask.numel());
    counted.inactive += static_cast<double>(mask.numel() - mask.sum().item<std::int64_t>());
    const auto shares = mask.to(at::kDouble).mean(1);
    counted.tokens += static_cast<double>(mask.size(0));
    counted.shares += shares.sum().item<double>();
    counted.squares += shares.square().sum().item<double>();
    if (keep_masks_) counted.masks.push_back(mask);
}

std::vector<double> SparsityStatistics::by_layer() const {
    std::vector<double> result;
    for (const Layer& layer : layers_)
        result.push_back(layer.all > 0 ? layer.inactive / layer.all : 0);
    return result;
}

double SparsityStatistics::mean() const { return mean_of(by_layer()); }

double SparsityStatistics::token_spread() const {
    std::vector<double> spreads;
    for (const Layer& layer : layers_) {
        if (layer.tokens == 0) continue;
        const double mean = layer.shares / layer.tokens;
        spreads.push_back(std::sqrt(std::max(0.0, layer.squares / layer.tokens - mean * mean)));
    }
    return mean_of(spreads);
}

double SparsityStatistics::union_sparsity(int batch, std::uint64_t seed) const {
    if (!keep_masks_) throw std::logic_error("the masks were not kept");
    std::vector<double> shares;
    for (const Layer& layer : layers_) {
        if (layer.masks.empty()) continue;
        const auto all = at::cat(layer.masks);
        const auto batches = all.size(0) / batch;
        if (batches == 0) continue;
        // The same tokens meet in every layer.
        const auto members =
            at::tensor(seeded_order(all.size(0), seed)).narrow(0, 0, batches * batch);
        const auto used = all.index_select(0, members).view({batches, batch, all.size(1)}).any(1);
        shares.push_back(1 - used.to(at::kDouble).mean().item<double>());
    }
    return mean_of(shares);
}

double union_over_independent(double together, double alone, int batch) {
    const double independent = 1 - std::pow(alone, batch);
    return independent > 0 ? (1 - together) / independent : 1;
}

std::vector<double> score_histogram(const std::vector<at::Tensor>& scores, int bins) {
    auto counts = at::zeros({bins}, at::TensorOptions().dtype(at::kDouble));
    for (const auto& part : scores)
        counts += at::histc(part.detach().to(at::kCPU, at::kDouble), bins, 0, 1);
    counts /= counts.sum().clamp_min(1);
    const double* data = counts.const_data_ptr<double>();
    return {data, data + bins};
}

double near_threshold(const std::vector<at::Tensor>& scores, double tau, double distance) {
    double near = 0, all = 0;
    for (const auto& part : scores) {
        near += static_cast<double>(
            ((part.detach() - tau).abs() <= distance).sum().item<std::int64_t>());
        all += static_cast<double>(part.numel());
    }
    return all > 0 ? near / all : 0;
}

}  // namespace assay::lte
