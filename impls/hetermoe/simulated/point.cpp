#include "impls/hetermoe/simulated/point.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace assay::hetermoe {
namespace {

constexpr double k_tokens = 1024;

// In units of an expert task of the old kind, one GPU of each (specification 6.2).
struct Anchors {
    // Attention of an A40 on a model 1,024 wide: a line through Table 3's two utilisations.
    double attention_at_0 = 0.371, attention_per_k = 0.0309;
    double w1_crossing_k = 28;  // Fig. 12: of models 2,048 wide
    double expert_a40 = 0.8;    // Fig. 2
    double expert_l40s = 1 / 7.0;
    double exchange = 0.4;  // of 1,024-wide rows over 100 Gbit/s, where T_E is a V100's
    // What DistEP waits for in a layer on average over a forward and three backward parts: of its
    // step Table 3's utilisations (those of zebra over the gains on DistEP: 32.5 and 51.4 % at 8K,
    // 40.5 and 45.2 % at 16K) leave 16.0 and 14.3 %, which is 0.308 and 0.311.
    double dist_ep_waits = 0.31;
    double efficiency = 0.92;
};
constexpr Anchors anchors;

struct Slowdown {
    double k, factor;
};
// Attention of an old GPU over that of its new one.
constexpr std::array<Slowdown, 3> v100_over_a40{{{4, 1.8}, {32, 3.2}, {64, 3.7}}};  // Figs. 11, 2
constexpr std::array<Slowdown, 2> t4_over_l40s{{{4, 9.9}, {64, 13.6}}};             // Fig. 2

template <std::size_t count>
double between(const std::array<Slowdown, count>& points, double k) {
    if (k <= points.front().k) return points.front().factor;
    for (std::size_t i = 1; i < count; ++i) {
        const auto &a = points[i - 1], &b = points[i];
        if (k <= b.k) return a.factor + (b.factor - a.factor) * (k - a.k) / (b.k - a.k);
    }
    return points.back().factor;
}

bool is(const ModelledGpus& gpus, const char* id) { return gpus.device.id == id; }

CostModel costs_of(const Point& point) {
    ClusterProfile cluster = point.network;
    cluster.devices = {point.new_gpus.device.id, point.old_gpus.device.id};
    return {cluster, {point.new_gpus.device, point.old_gpus.device}};
}

PointTimes by_sheet(const Point& point, double sequences) {
    const CostModel costs = costs_of(point);
    const Workload work{.model = point.model, .tokens = point.tokens, .sequences = sequences};
    const auto seconds = [&](int worker, int gpus) {
        return gpu_seconds(costs, worker, work, std::max(1.0, double(point.model.experts) / gpus));
    };
    return {.of_new = seconds(0, point.new_gpus.gpus),
            .of_old = seconds(1, point.old_gpus.gpus),
            .exchange_s = exchange_s(costs.cluster(), work),
            .piece_s = piece_s(costs)};
}

// Attention over experts on a GPU with fused kernels.
double attention_line(const ModelShape& model, double k) {
    const double per_k = model.hidden > 1024 ? (1 - anchors.attention_at_0) / anchors.w1_crossing_k
                                             : anchors.attention_per_k;
    return anchors.attention_at_0 + per_k * k;
}

PointTimes by_anchors(const Point& point, double sequences) {
    const double k = point.tokens / k_tokens;
    PointTimes times = by_sheet(point, sequences);
    // Heads are part of what Table 3's utilisations hold.
    times.of_new.head = times.of_old.head = 0;
    Point v100 = point;
    v100.old_gpus.device = device_profile("v100");
    const double v100_expert = by_sheet(v100, sequences).of_old.expert;
    const double wire = point.network.link_bandwidth.value / 1.25e10;
    times.exchange_s = anchors.exchange * v100_expert * 1024 / point.model.hidden / wire;

    const GpuSeconds a40{.attention = attention_line(point.model, k) * v100_expert,
                         .expert = anchors.expert_a40 * v100_expert};
    if (is(point.new_gpus, "l40s") && is(point.old_gpus, "t4")) {
        const double t4_expert = times.of_old.expert;
        times.of_new.expert = anchors.expert_l40s * t4_expert;
        times.of_new.attention = a40.attention / a40.expert * times.of_new.expert;
        times.of_old.attention = between(t4_over_l40s, k) * times.of_new.attention;
        return times;
    }
    const auto of = [&](const ModelledGpus& gpus) -> GpuSeconds {
        if (is(gpus, "a40")) return a40;
        if (is(gpus, "v100"))
            return {.attention = between(v100_over_a40, k) * a40.attention, .expert = v100_expert};
        if (is(gpus, "a100")) {  // by its peak
            const double faster =
                gpus.device.matmul_flops.value / device_profile("a40").matmul_flops.value;
            return {.attention = a40.attention / faster, .expert = a40.expert / faster};
        }
        throw UserError("there are no anchors for the device " + gpus.device.id);
    };
    times.of_new = of(point.new_gpus);
    times.of_old = of(point.old_gpus);
    return times;
}

}  // namespace

PointTimes times_of(const Point& point, double sequences) {
    return point.calibration == Calibration::sheet ? by_sheet(point, sequences)
                                                   : by_anchors(point, sequences);
}

std::optional<double> dist_ep_exposed_share(Calibration calibration) {
    if (calibration == Calibration::sheet) return std::nullopt;
    return (1 + backward_over_forward) * anchors.dist_ep_waits / (4 * anchors.exchange);
}

double travelling(int gpus) { return double(gpus - 1) / gpus; }

double efficiency_of(Calibration calibration) {
    return calibration == Calibration::anchored ? anchors.efficiency : 1;
}

nlohmann::json calibration_json(const Point& point) {
    nlohmann::json json = costs_of(point).to_json();
    if (point.calibration == Calibration::sheet) return json;
    json["anchors"] = {
        {"attention_at_0", anchors.attention_at_0}, {"attention_per_k", anchors.attention_per_k},
        {"w1_crossing_k", anchors.w1_crossing_k},   {"expert_a40", anchors.expert_a40},
        {"expert_l40s", anchors.expert_l40s},       {"exchange", anchors.exchange},
        {"dist_ep_waits", anchors.dist_ep_waits},   {"efficiency", anchors.efficiency}};
    json["fitted_from"] = {"hetermoe/tab3/8k/off/a40",
                           "hetermoe/tab3/8k/off/v100",
                           "hetermoe/tab3/16k/off/a40",
                           "hetermoe/tab3/16k/off/v100",
                           "hetermoe/tab3/8k/off/a40-gain",
                           "hetermoe/tab3/8k/off/v100-gain",
                           "hetermoe/tab3/16k/off/a40-gain",
                           "hetermoe/tab3/16k/off/v100-gain",
                           "hetermoe/fig2/a40-v100/experts",
                           "hetermoe/fig2/a40-v100/attention-64k",
                           "hetermoe/fig2/l40s-t4/experts",
                           "hetermoe/fig2/l40s-t4/attention-4k",
                           "hetermoe/fig2/l40s-t4/attention-64k",
                           "hetermoe/fig11/4-v100/4k",
                           "hetermoe/fig11/4-v100/32k",
                           "hetermoe/fig11/4-v100/average",
                           "hetermoe/fig11/4-a40/average",
                           "hetermoe/fig11/4-a40/12k-20k/least",
                           "hetermoe/fig12/w1/beyond"};
    return json;
}

double crossing_k(const Point& point) {
    double low = 1, high = 1024;
    while (high - low > 1e-3) {
        Point middle = point;
        middle.tokens = (low + high) / 2 * k_tokens;
        const PointTimes times = times_of(middle, 1);
        (times.of_new.attention < times.of_old.expert ? low : high) = (low + high) / 2;
    }
    return high;
}

}  // namespace assay::hetermoe
