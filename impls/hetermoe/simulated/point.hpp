// One point of a figure, and what its tasks take: by data sheets, or by numbers that were worked
// out of the paper's own.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "impls/hetermoe/cost/modelled_profile.hpp"
#include "suite/base/describe.hpp"

namespace assay::drive {
class RankFlows;
}

namespace assay::hetermoe {

/// sheet: the cost model (impls/hetermoe/cost), of which nothing is fitted to a result of the
/// figures. anchored: ratios worked out of Tables and Figures (specification 6.2), each named in
/// anchors_fitted_from(); absolute times are the sheet's of the old kind's experts.
enum class Calibration { sheet, anchored };
ASSAY_NAMES(Calibration, sheet, anchored)

struct Point {
    ModelShape model;
    ModelledGpus new_gpus, old_gpus;
    ClusterProfile network;
    double tokens = 0;  ///< of a sequence
    int batch = 4;      ///< sequences of a step for each new GPU: the batch of all arms
    Calibration calibration = Calibration::sheet;
    /// Where exchanges are flows over the network's links, which they share; null: each has its
    /// link to itself, and the timeline is arithmetic. Of all GPUs, new ones first.
    std::shared_ptr<drive::RankFlows> flows = nullptr;

    double sequences() const { return double(batch) * new_gpus.gpus; }
};

/// Of `sequences` on one GPU; forward.
struct PointTimes {
    GpuSeconds of_new, of_old;
    double exchange_s = 0;  ///< their rows over a link, one way
    PieceSeconds piece_s;   ///< of a layer's rows cut into pieces
};
PointTimes times_of(const Point& point, double sequences);

/// The share of its exchanges that DistEP waits for, anchored: what Table 3 leaves of its step
/// besides computing. By the sheet none: its exchanges overlap with experts in pieces, as those of
/// expert parallelism do at either calibration (exposed_share()).
std::optional<double> dist_ep_exposed_share(Calibration);

/// The share of its rows that a GPU sends away in expert parallelism over `gpus`: the others are
/// for experts of its own.
double travelling(int gpus);

/// What groups that alternate micro-batches reach of their timeline: 1 by the sheet.
double efficiency_of(Calibration calibration);

/// A backward task is so many times as long as its forward one: twice, and once to recompute.
inline constexpr int backward_over_forward = 3;

/// For the record: devices and links; anchored also the anchors, with fitted_from.
nlohmann::json calibration_json(const Point& point);

/// Tokens in thousands (of 1,024) of a sequence from which attention takes as long as experts where
/// there are as many new GPUs as old ones.
double crossing_k(const Point& point);

}  // namespace assay::hetermoe
