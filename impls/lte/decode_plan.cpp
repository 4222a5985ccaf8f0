#include "impls/lte/decode_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "impls/nn/files/tensor_type.hpp"
#include "suite/experiment/error.hpp"

namespace assay::lte {
namespace {

/// Routers and the cache are no part of a model file: 16-bit numbers are assumed.
constexpr double assumed_bytes = 2;

void check(const DecodePlanRequest& request) {
    if (request.sparsities.empty())
        throw UserError("--sparsity: give at least one share, for example 0.5");
    for (const double sparsity : request.sparsities)
        if (!(sparsity >= 0 && sparsity < 1))
            throw UserError(
                fmt::format("--sparsity {}: must be a share from 0 up to but not including 1, for "
                            "example 0.5 for half of the experts",
                            sparsity));
    if (request.batch < 1)
        throw UserError(fmt::format("--batch {}: must be at least 1", request.batch));
    const int longest = request.model.config.context;
    if (request.context < 0 || request.context >= longest)
        throw UserError(
            fmt::format("--context {}: must be from 0 to {}, since the model reaches "
                        "{} tokens with the one it reads",
                        request.context, longest - 1, longest));
}

/// Dense where `sparsity` is absent.
DecodePoint point_at(const DecodePlanRequest& request, std::optional<double> sparsity) {
    const StoredModel& model = request.model;
    const nn::DecoderConfig& config = model.config;
    const double layers = config.layers, batch = request.batch, head = config.head_width;
    const double positions = request.context + 1.0;

    DecodePoint point;
    point.sparsity = sparsity;
    point.union_sparsity = sparsity ? std::pow(*sparsity, batch) : 0;
    point.layer = layer_flops(config, sparsity.value_or(0), sparsity.has_value());
    const double per_step = layers * batch;
    const double router_weights = sparsity ? 1.0 * config.width * experts_per_layer(config) : 0;
    point.parts = {
        {"attention", per_step * point.layer.attention, model.attention.bytes},
        // Scores and weighted sums: two products of a multiply-add per query head and position.
        {"cache", per_step * 4 * config.heads * head * positions,
         per_step * 2 * config.kv_heads * head * positions * assumed_bytes},
        {"router", per_step * point.layer.router, layers * router_weights * assumed_bytes},
        {"ffn", per_step * point.layer.ffn, model.feed_forward.bytes * (1 - point.union_sparsity)},
        {"output", batch * 2 * config.width * config.vocabulary, model.output.bytes},
        {"other", 0, model.vectors.bytes + batch * model.embedding_row.bytes}};
    if (request.device) {
        const DeviceProfile& device = *request.device;
        const double flops_per_s = device.matmul_flops.value * device.matmul_efficiency.value;
        const double bytes_per_s = device.memory_bandwidth.value * device.memory_efficiency.value;
        double expected = 0;
        for (const PartWork& part : point.parts)
            expected += std::max(part.flops / flops_per_s, part.bytes / bytes_per_s);
        point.expected_s = expected;
    }
    return point;
}

template <typename Member>
double sum(const std::vector<PartWork>& parts, Member member) {
    double total = 0;
    for (const PartWork& part : parts) total += part.*member;
    return total;
}

}  // namespace

double DecodePoint::flops() const { return sum(parts, &PartWork::flops); }
double DecodePoint::bytes() const { return sum(parts, &PartWork::bytes); }

DecodePlan plan_decode(DecodePlanRequest request) {
    check(request);
    DecodePlan plan;
    plan.dense = point_at(request, std::nullopt);
    for (const double sparsity : request.sparsities) {
        DecodePoint point = point_at(request, sparsity);
        point.saved_flops = 1 - point.layer.total() / plan.dense.layer.total();
        point.saved_bytes = 1 - point.bytes() / plan.dense.bytes();
        plan.points.push_back(std::move(point));
    }
    plan.request = std::move(request);
    return plan;
}

}  // namespace assay::lte
