#include "impls/hetermoe/cost/modelled_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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
            fmt::format("the device profile '{}' does not say how it computes attention: give it "
                        "[attention] with value = \"fused\" or \"materialised\"",
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

double pipelined_s(double exchange, double experts, double piece_s) {
    constexpr std::array<double, 5> degrees{1, 2, 4, 8, 16};
    double best = 2 * exchange + experts;
    for (const double pieces : degrees) {
        const double more = pieces > 1 ? piece_s : 0;
        const double transfer = exchange / pieces + more, compute = experts / pieces + more;
        best = std::min(best, 2 * transfer + compute + (pieces - 1) * std::max(transfer, compute));
    }
    return best;
}

double exposed_share(double exchange, double expert_s, double backward, double piece_s) {
    const auto waited = [&](double experts) {
        return pipelined_s(exchange, experts, piece_s) - experts;
    };
    return exchange > 0 ? (waited(expert_s) + waited(backward * expert_s)) / (4 * exchange) : 0;
}

double piece_s(const CostModel& costs, int worker) {
    return expert_kernels * costs.device(worker).launch_s.value +
           costs.cluster().link_latency_s.value;
}

}  // namespace assay::hetermoe
