#include "impls/hetermoe/cost/modelled_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace assay::hetermoe {
namespace {

constexpr double expert_kernels = 4;  // three grouped products and SwiGLU

// Norms, queries, keys, values, output and gate: a multiply-add per parameter and token. Norms and
// residuals stream the activations.
Operation projections(const Workload& work) {
    const ModelShape& model = work.model;
    const double tokens = work.tokens * work.sequences;
    const double weights = model.projection_parameters() + double(model.experts) * model.hidden;
    return {"attention_projections",
            {.flops = 2 * tokens * weights,
             .bytes = value_bytes * (weights + 12 * tokens * model.hidden),
             .kernels = 12}};
}

// Two products of a query with every key, of which a fused kernel leaves the masked half out. Where
// the scores go through memory they are written, read and written by the softmax, and read again.
Operation scores(const Workload& work, AttentionKernels kernels) {
    const ModelShape& model = work.model;
    const double tokens = work.tokens * work.sequences, pairs = tokens * work.tokens;
    const double ends = value_bytes * tokens * model.hidden * (2 + 2 * ModelShape::key_share);
    if (kernels == AttentionKernels::fused)
        return {"attention_fused", {.flops = 2 * pairs * model.hidden, .bytes = ends}};
    return {"attention_materialised",
            {.flops = 4 * pairs * model.hidden,
             .bytes = ends + 4 * value_bytes * pairs * model.heads(),
             .kernels = 3}};
}

// Three matrices for each row; what goes in and out of each product is streamed.
Operation experts(const Workload& work, double held) {
    const ModelShape& model = work.model;
    return {"experts",
            {.flops = 2 * work.rows() * model.expert_parameters(),
             .bytes = value_bytes * (held * model.expert_parameters() +
                                     work.rows() * (2 * model.hidden + 6 * model.expert_width())),
             .kernels = expert_kernels}};
}

Operation head(const Workload& work) {
    const double tokens = work.tokens * work.sequences, words = ModelShape::vocabulary;
    return {"head",
            {.flops = 2 * tokens * work.model.hidden * words,
             .bytes = value_bytes * (work.model.hidden * words + 3 * tokens * words),
             .kernels = 4}};
}

}  // namespace

GpuSeconds gpu_seconds(const CostModel& costs, int worker, const Workload& workload, double held) {
    const DeviceProfile& device = costs.device(worker);
    if (!device.attention)
        throw UserError(
            fmt::format("the device profile '{}' does not say how it computes attention: give a "
                        "copy of its file that ends with [attention], value = \"fused\" or "
                        "\"materialised\", kind = \"assumed\" and source = \"…\"",
                        device.id));
    return {.attention = costs.compute(worker, projections(workload)) +
                         costs.compute(worker, scores(workload, device.attention->kernels)),
            .expert = costs.compute(worker, experts(workload, held)),
            .head = costs.compute(worker, head(workload))};
}

double exchange_s(const ClusterProfile& cluster, const Workload& workload) {
    const double bytes = value_bytes * workload.rows() * workload.model.hidden;
    return bytes / reached(cluster.link_bandwidth, cluster.link_efficiency) +
           cluster.link_latency_s.value;
}

PieceSeconds piece_s(const CostModel& costs) {
    return {.message = costs.cluster().link_latency_s.value,
            .launch = expert_kernels *
                      std::max(costs.device(0).launch_s.value, costs.device(1).launch_s.value)};
}

double in_pieces_s(double exchange, double experts, const PieceSeconds& piece_s, Links links,
                   int pieces) {
    const auto of_piece = [&](double whole, double fixed) {
        fixed = std::min(fixed, whole);
        return fixed + (whole - fixed) / pieces;
    };
    const double transfer = of_piece(exchange, piece_s.message),
                 compute = of_piece(experts, piece_s.launch);
    double sent = 0, computed = 0, returned = links == Links::shared ? pieces * transfer : 0;
    for (int piece = 0; piece < pieces; ++piece) {
        sent += transfer;
        computed = std::max(computed, sent) + compute;
        returned = std::max(returned, computed) + transfer;
    }
    return returned;
}

double pipelined_s(double exchange, double experts, const PieceSeconds& piece_s, Links links) {
    double best = std::numeric_limits<double>::infinity();
    for (const int pieces : piece_degrees)
        best = std::min(best, in_pieces_s(exchange, experts, piece_s, links, pieces));
    return best;
}

double exposed_share(double exchange, double expert_s, double backward, const PieceSeconds& piece_s,
                     Links links) {
    const auto waited = [&](double times) {
        const PieceSeconds piece{.message = piece_s.message, .launch = times * piece_s.launch};
        return pipelined_s(exchange, times * expert_s, piece, links) - times * expert_s;
    };
    return exchange > 0 ? (waited(1) + waited(backward)) / (4 * exchange) : 0;
}

}  // namespace assay::hetermoe
