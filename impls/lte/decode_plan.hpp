// `assay plan lte`: what leaving experts out saves a model in decoding: FLOPs, bytes, and the least
// time that a device needs for them. Arithmetic, no measurement.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/model/decode_cost.hpp"
#include "suite/experiment/system.hpp"

namespace assay::lte {

/// Experts of one layer. Throws UserError when the neurons do not divide into experts.
int experts_per_layer(const nn::DecoderConfig& config);

struct DecodePlanRequest {
    assay::model::StoredModel model;
    std::vector<double> sparsities;  ///< of the feed-forward networks, each in [0, 1)
    int batch = 1;                   ///< sequences that one step continues by a token each
    int context = 512;               ///< tokens of each sequence in the cache before the step
    std::optional<DeviceProfile> device;
};

/// One decode step at one sparsity.
struct DecodePoint {
    std::optional<double> sparsity;  ///< absent: the dense model, without routers
    /// Share of the experts that no token of the batch activates: sparsity^batch, if each token
    /// activates each expert independently with the same probability. What a batch really needs is
    /// less than that, as tokens share experts (Fig. 15).
    double union_sparsity = 0;
    model::TokenFlops layer;             ///< of one layer and one token
    std::vector<model::PartWork> parts;  ///< with "router"
    double saved_flops = 0;              ///< share of the dense model's, all parts
    double saved_bytes = 0;              ///< the same
    /// As Table 1 counts: products with the matrices of the layers and the routers, neither
    /// attention over the cache nor the output matrix. More than saved_flops.
    double saved_layers_flops = 0;
    std::optional<double> expected_s;  ///< model::expected_seconds()

    double flops() const;  ///< of the step
    double bytes() const;
};

struct DecodePlan {
    DecodePlanRequest request;
    DecodePoint dense;
    std::vector<DecodePoint> points;  ///< as requested
};

/// Throws UserError: a sparsity outside [0, 1), none at all, a batch below 1, a context that the
/// model does not reach, neurons that do not divide into experts.
DecodePlan plan_decode(DecodePlanRequest request);

/// Its tables and sentences keep to so many columns.
std::string to_text(const DecodePlan&, std::size_t columns);

/// "saved_flops" and "saved_bytes" are of all that a step computes and reads; "saved_layers_flops"
/// is Table 1's count.
nlohmann::json to_json(const DecodePlan&);

std::unique_ptr<Command> make_plan_command();

}  // namespace assay::lte
