// What the tasks of a layer take by the suite's cost model: operations counted, devices and links
// as their profiles have them (formulas and inputs: README.md of this system).
#pragma once

#include <array>

#include "impls/hetermoe/cost/paper_setup.hpp"
#include "suite/scenario/cost_model.hpp"

namespace assay::hetermoe {

inline constexpr double value_bytes = 2;  ///< of a weight in use, an activation: FP16

/// A micro-batch of one GPU.
struct Workload {
    ModelShape model;
    double tokens = 0;     ///< of a sequence
    double sequences = 1;  ///< of the micro-batch

    double rows() const { return model.top_k * tokens * sequences; }  ///< to experts
};

/// Seconds of one micro-batch on one GPU, forward.
struct GpuSeconds {
    double attention = 0;  ///< attention and gate of a layer
    double expert = 0;     ///< its rows through experts
    double head = 0;       ///< last norm, output head, loss
};

/// `worker` of `costs`; it holds `held` experts of a layer. Throws UserError where the device's
/// profile does not say how it computes attention.
GpuSeconds gpu_seconds(const CostModel& costs, int worker, const Workload& workload, double held);

/// A GPU's rows over its link, one way.
double exchange_s(const ClusterProfile& cluster, const Workload& workload);

/// What a piece of a layer's rows takes whatever its size; the whole has it once. Seconds.
struct PieceSeconds {
    double message = 0;  ///< latency of its dispatch, and of its combine
    double launch = 0;   ///< launching its experts' kernels
};
/// On the slower of two workers.
PieceSeconds piece_s(const CostModel& costs);

/// Of a layer's dispatches and combines. Expert parallelism's share links: in both every GPU sends
/// and receives. Where one kind of GPUs sends to the other each direction has its own.
enum class Links { shared, opposite };

/// When dispatch, experts and combine of a layer are done which are cut into equal pieces, as Tutel
/// (arXiv 2206.03382) and Lina schedule them: dispatches follow one another, experts compute what
/// has come, a piece returns once it is computed, on shared links behind all dispatches.
/// `exchange`: seconds of a dispatch, and of a combine, of the whole; `experts`: of its experts.
double in_pieces_s(double exchange, double experts, const PieceSeconds& piece_s, Links links,
                   int pieces);

/// Numbers of pieces that are tried.
inline constexpr std::array piece_degrees{1, 2, 4, 8, 16};
/// The same in as many pieces as take least.
double pipelined_s(double exchange, double experts, const PieceSeconds& piece_s, Links links);

/// The share of a layer's exchanges, two forward and two backward, that is waited for: what
/// pipelined_s() is longer than experts, which take `expert_s` on the slowest GPU, backward
/// `backward` times as long.
double exposed_share(double exchange, double expert_s, double backward, const PieceSeconds& piece_s,
                     Links links);

}  // namespace assay::hetermoe
