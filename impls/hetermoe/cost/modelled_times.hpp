// What the tasks of a layer take by the suite's cost model: operations counted, devices and links
// as their profiles have them (formulas and inputs: README.md of this system).
#pragma once

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

/// How long dispatch, experts and combine of a layer take when they are cut into as many pieces as
/// is best, pieces of each following one another while those of the others go on (Tutel, Lina).
/// `exchange` and `experts`: of the whole; `piece_s`: what each further piece of either costs more.
double pipelined_s(double exchange, double experts, double piece_s);

/// The share of its exchanges that expert parallelism waits for, forward and backward, `backward`
/// times as long, together; experts take `expert_s` on the slowest GPU.
double exposed_share(double exchange, double expert_s, double backward, double piece_s);

/// Launching the kernels of a piece, and its message's latency.
double piece_s(const CostModel& costs, int worker);

}  // namespace assay::hetermoe
