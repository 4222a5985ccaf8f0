#include "impls/hetermoe/simulated/lockstep.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace assay::hetermoe {
namespace {

// Every GPU has as many sequences, and as many experts.
Lockstep expert_parallel(const Point& point, int new_gpus, int old_gpus) {
    const int gpus = new_gpus + old_gpus;
    const double of_gpu = point.sequences() / (point.new_gpus.gpus + point.old_gpus.gpus);
    const PointTimes times = times_of(point, of_gpu);
    return {.first = new_gpus > 0 ? 0 : point.new_gpus.gpus,
            .new_gpus = new_gpus,
            .old_gpus = old_gpus,
            .of_new = new_gpus > 0 ? times.of_new : GpuSeconds{},
            .of_old = old_gpus > 0 ? times.of_old : GpuSeconds{},
            .sequences = gpus * of_gpu,
            .rows_s = times.exchange_s,
            .exchange_s = times.exchange_s * travelling(gpus),
            .piece_s = times.piece_s};
}

Lockstep in_turns(const Point& point) {
    const double m = point.new_gpus.gpus, n = point.old_gpus.gpus;
    const PointTimes attention = times_of(point, point.sequences() / m),
                     expert = times_of(point, point.sequences() / n);
    const double exchange_s = std::max(attention.exchange_s, expert.exchange_s);
    return {.new_gpus = point.new_gpus.gpus,
            .old_gpus = point.old_gpus.gpus,
            .split = true,
            .of_new = {.attention = attention.of_new.attention, .head = attention.of_new.head},
            .of_old = {.expert = expert.of_old.expert},
            .sequences = point.sequences(),
            .rows_s = exchange_s / std::max(1.0, m / n),
            .exchange_s = exchange_s,
            .piece_s = attention.piece_s,
            .anchored_share = dist_ep_exposed_share(point.calibration)};
}

}  // namespace

std::vector<int> ranks_from(int first, int count) {
    std::vector<int> ranks(static_cast<std::size_t>(count));
    std::iota(ranks.begin(), ranks.end(), first);
    return ranks;
}

std::vector<int> Lockstep::attention_ranks() const {
    return ranks_from(first, split ? new_gpus : gpus());
}

std::vector<int> Lockstep::expert_ranks() const {
    return split ? ranks_from(first + new_gpus, old_gpus) : ranks_from(first, gpus());
}

GpuSeconds Lockstep::slowest() const {
    return {.attention = std::max(of_new.attention, of_old.attention),
            .expert = std::max(of_new.expert, of_old.expert),
            .head = std::max(of_new.head, of_old.head)};
}

double Lockstep::exposed() const {
    if (anchored_share) return *anchored_share;
    return exposed_share(exchange_s, slowest().expert, backward_over_forward, piece_s,
                         split ? Links::opposite : Links::shared);
}

std::vector<Lockstep> locksteps(const Point& point, Arm arm) {
    const int m = point.new_gpus.gpus, n = point.old_gpus.gpus;
    if (arm == Arm::ep) return {expert_parallel(point, m, n)};
    if (arm == Arm::ep_ideal) return {expert_parallel(point, m, 0), expert_parallel(point, 0, n)};
    if (arm == Arm::dist_ep) return {in_turns(point)};
    throw std::logic_error("no arm whose GPUs do the same at a time");
}

}  // namespace assay::hetermoe
