// One MoE layer of Fig. 10a on logical ranks: who holds what, and where the rows want to go. The
// exact half counts on it; the measured half computes it, in the module of tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "impls/lazarus/policy/dispatch/dispatcher.hpp"
#include "impls/lazarus/policy/types.hpp"
#include "impls/tensors/part.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::lazarus {

struct SkewedLayer {
    static constexpr int experts = 8;
    int width = 0;  ///< of the model; an expert's hidden layer is four times as wide
    DispatchRule rule;
    Placement holders;                               ///< [rank]
    std::vector<std::vector<std::int64_t>> choices;  ///< [rank][row]: its expert

    int ranks() const { return static_cast<int>(holders.size()); }
    /// Of all ranks.
    double rows() const {
        double rows = 0;
        for (const auto& of_rank : choices) rows += static_cast<double>(of_rank.size());
        return rows;
    }
    /// T as dispatchers want it: [experts][ranks], row-major.
    std::vector<Tokens> tokens() const {
        std::vector<Tokens> tokens(static_cast<std::size_t>(experts) * holders.size(), 0);
        for (std::size_t rank = 0; rank < choices.size(); ++rank)
            for (const auto expert : choices[rank])
                ++tokens[static_cast<std::size_t>(expert) * holders.size() + rank];
        return tokens;
    }
};

/// Computes both in turns and records what is measured of LayerFound …
using ComputeLayers = void(const SkewedLayer& even, const SkewedLayer& skewed, Recorder&);
/// … here, ranks being threads, …
inline const tensors::Part<ComputeLayers> compute_layers{"lazarus/fig10a",
                                                         tensors::Needs::processes};
/// … or on logical ranks of the first GPU.
inline const tensors::Part<ComputeLayers> compute_layers_on_gpu{"lazarus/fig10a on a GPU",
                                                                tensors::Needs::processes};
/// Why that is not possible here; std::nullopt: it is.
inline const tensors::Part<std::optional<std::string>()> gpu_layers_lack{"lazarus/gpu_layers_lack",
                                                                         tensors::Needs::processes};

struct LayerFound : Metrics {
    using Metrics::Metrics;
    Metric relative_throughput = exact_unless(
        {Provenance::measured}, "relative_throughput", "ratio",
        "throughput over that at 1:1 of the same system; exact: by the busiest rank's rows",
        higher);
    Metric busiest_rows =
        counted("busiest_rows", "ratio",
                "rows that the busiest rank computes, padding included, over its own tokens");
    Metric busiest_bytes =
        counted("busiest_bytes", "B",
                "sent or received (what is more) by the rank with most, there and back, 16-bit");
    Metric tokens_per_s = measured("tokens_per_s", "1/s", "of all ranks", higher);
    Metric layer_s =
        measured("layer_s", "s", "dispatch, experts and combine, each of its slowest rank", lower);
    Metric experts_s = measured("experts_s", "s", "experts, of the slowest rank", lower);

  private:
    Metric counted(std::string name, std::string unit, std::string says) {
        return metric({.name = std::move(name),
                       .unit = std::move(unit),
                       .says = std::move(says),
                       .better = lower,
                       .deterministic = true,
                       .only = {Provenance::exact}});
    }
    Metric measured(std::string name, std::string unit, std::string says, Direction better) {
        return metric({.name = std::move(name),
                       .unit = std::move(unit),
                       .says = std::move(says),
                       .better = better,
                       .only = {Provenance::measured}});
    }
};

}  // namespace assay::lazarus
