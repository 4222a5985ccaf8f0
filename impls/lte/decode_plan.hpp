// What leaving experts out saves a model in decoding: FLOPs, bytes, and the least time that a
// device needs for them. Arithmetic, no measurement.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/lte/flops.hpp"
#include "impls/lte/stored_model.hpp"
#include "suite/scenario/device_profile.hpp"

namespace assay::lte {

struct DecodePlanRequest {
    StoredModel model;
    std::vector<double> sparsities;  ///< of the feed-forward networks, each in [0, 1)
    int batch = 1;                   ///< sequences that one step continues by a token each
    int context = 512;               ///< tokens of each sequence in the cache before the step
    std::optional<DeviceProfile> device;
};

/// Work of one part of a step, for the whole batch and all layers.
struct PartWork {
    std::string part;  ///< "attention", "cache", "router", "ffn", "output", "other"
    double flops = 0;
    double bytes = 0;
};

/// One decode step at one sparsity.
struct DecodePoint {
    std::optional<double> sparsity;  ///< absent: the dense model, without routers
    /// Share of the experts that no token of the batch activates: sparsity^batch, if each token
    /// activates each expert independently with the same probability. What a batch really needs is
    /// less than that, as tokens share experts (Fig. 15).
    double union_sparsity = 0;
    TokenFlops layer;  ///< of one layer and one token
    std::vector<PartWork> parts;
    double saved_flops = 0;  ///< share of the dense model's, layers only (Table 1's convention)
    double saved_bytes = 0;  ///< share of the dense model's, all parts
    /// Seconds of a step: the sum over parts, which follow one another, of max(bytes / bandwidth,
    /// FLOPs / peak) at the efficiencies of the profile.
    std::optional<double> expected_s;

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

std::string to_text(const DecodePlan&);
nlohmann::json to_json(const DecodePlan&);

}  // namespace assay::lte
