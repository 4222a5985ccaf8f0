#include "impls/lte/decode_plan.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kernels/sparse_ffn/experts.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

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
    const nn::DecoderConfig& config = request.model.config;
    const int experts = experts_per_layer(config);
    const int routed = sparsity ? experts : 0;

    DecodePoint point;
    point.sparsity = sparsity;
    point.union_sparsity = sparsity ? std::pow(*sparsity, request.batch) : 0;
    point.layer = model::layer_flops(config, sparsity.value_or(0), routed);
    point.parts = model::decode_step(request.model, request.batch, request.context);
    const double layers = config.layers, per_step = layers * request.batch;
    for (model::PartWork& part : point.parts)
        if (part.part == "ffn") {
            part.flops = per_step * point.layer.ffn;
            part.bytes *= 1 - point.union_sparsity;
        }
    const auto after_cache = point.parts.begin() + 2;
    point.parts.insert(
        after_cache,
        model::PartWork{.part = "router",
                        .flops = per_step * point.layer.router,
                        .bytes = layers * (1.0 * config.width * routed) * model::assumed_bytes});
    if (request.device) point.expected_s = model::expected_seconds(point.parts, *request.device);
    return point;
}

template <typename Member>
double sum(const std::vector<model::PartWork>& parts, Member member) {
    double total = 0;
    for (const model::PartWork& part : parts) total += part.*member;
    return total;
}

}  // namespace

int experts_per_layer(const nn::DecoderConfig& config) {
    constexpr int size = kernels::neurons_per_expert;
    if (config.hidden % size != 0)
        throw UserError(fmt::format(
            "{} neurons per feed-forward network do not divide into experts of {}; LTE needs a "
            "multiple of {}",
            config.hidden, size, size));
    return config.hidden / size;
}

double DecodePoint::flops() const { return sum(parts, &model::PartWork::flops); }
double DecodePoint::bytes() const { return sum(parts, &model::PartWork::bytes); }

DecodePlan plan_decode(DecodePlanRequest request) {
    check(request);
    DecodePlan plan;
    plan.dense = point_at(request, std::nullopt);
    for (const double sparsity : request.sparsities) {
        DecodePoint point = point_at(request, sparsity);
        point.saved_layers_flops = 1 - point.layer.total() / plan.dense.layer.total();
        point.saved_flops = 1 - point.flops() / plan.dense.flops();
        point.saved_bytes = 1 - point.bytes() / plan.dense.bytes();
        plan.points.push_back(std::move(point));
    }
    plan.request = std::move(request);
    return plan;
}

}  // namespace assay::lte
