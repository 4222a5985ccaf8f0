#include "impls/hetermoe/simulated/arms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "impls/hetermoe/policy/plan.hpp"
#include "impls/hetermoe/simulated/flow_step.hpp"
#include "impls/hetermoe/simulated/lockstep.hpp"
#include "impls/hetermoe/simulated/pipelines.hpp"

namespace assay::hetermoe {
namespace {

Nanoseconds nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

double tokens(const Point& point) { return point.sequences() * point.tokens; }

double expert_states(const Point& point, double held) {
    return state_bytes * point.model.layers * held * point.model.expert_parameters();
}

std::optional<ArmResult> faster(std::optional<ArmResult> best, std::optional<ArmResult> other) {
    if (!best || (other && other->tokens_per_s > best->tokens_per_s)) return other;
    return best;
}

// What takes so long on a link that nobody else uses.
double bytes_of(const Point& point, double exchange_s) {
    const ClusterProfile& cluster = point.network;
    return std::max(0.0, exchange_s - cluster.link_latency_s.value) *
           reached(cluster.link_bandwidth, cluster.link_efficiency);
}

// ---- groups that alternate micro-batches
// ---------------------------------------------------------

// One that new and old GPUs make together, at one number of micro-batches.
std::optional<ArmResult> zebra(const Point& point, Asym asym, int micro_batches) {
    const double sequences = double(point.batch) / micro_batches;
    const PointTimes times = times_of(point, sequences);
    const Workload work{.model = point.model, .tokens = point.tokens, .sequences = sequences};
    const auto kind = [&](const ModelledGpus& gpus, const GpuSeconds& seconds, double rest) {
        return GpuKind{.gpus = gpus.gpus,
                       .attention = nanoseconds(seconds.attention),
                       .expert = nanoseconds(seconds.expert),
                       .head = nanoseconds(seconds.head),
                       .capacity = expert_capacity(gpus.device, point.model, rest)};
    };
    const Group group{point.new_gpus.gpus, point.old_gpus.gpus};
    Workload of_expert_gpu = work;
    of_expert_gpu.sequences *= double(group.attention) / group.expert;
    const double needed = attention_gpu_bytes(work, micro_batches);
    if (needed > usable_memory * point.new_gpus.device.memory_bytes.value) return std::nullopt;
    TrainingProfile profile;
    profile.layers = point.model.layers;
    profile.experts = point.model.experts;
    profile.new_kind = kind(point.new_gpus, times.of_new, needed);
    profile.old_kind =
        kind(point.old_gpus, times.of_old,
             expert_gpu_bytes(of_expert_gpu, micro_batches,
                              std::max(1.0, double(point.model.experts) / group.expert)));
    profile.exchange = nanoseconds(times.exchange_s);
    const PlanSettings settings{.asym = asym, .backward = Fraction(backward_over_forward)};
    const auto offload = offload_for(profile, group, settings, micro_batches);
    if (!offload) return std::nullopt;
    const StepShape step{.micro_batches = micro_batches, .offload = *offload};
    const TaskTimes ticks = task_times(profile, group, settings.backward, micro_batches);
    const double makespan_s =
        point.flows ? run_jobs(point.flows,
                               zebra_jobs(step, ticks, group, bytes_of(point, times.exchange_s)))
                    : ticks.seconds(zebra_makespan(ticks, step));
    const double step_s = makespan_s / efficiency_of(point.calibration);
    const auto share = [&](Queue queue) {
        return ticks.seconds(busy(ticks, step, queue)) / step_s;
    };
    const int moved = std::accumulate(offload->begin(), offload->end(), 0) * group.expert;
    return ArmResult{.tokens_per_s = tokens(point) / step_s,
                     .new_busy = share(Queue::attention),
                     .old_busy = share(Queue::expert),
                     .micro_batches = micro_batches,
                     .moved = double(moved) / (point.model.layers * point.model.experts),
                     .offload = *offload};
}

// Two pools of GPUs of any kind; their work is shared by speed, as one attention and one expert
// GPU.
std::optional<ArmResult> balance(const Point& point, int micro_batches) {
    const auto [m, n] = Group{point.new_gpus.gpus, point.old_gpus.gpus};
    const double sequences = point.sequences() / micro_batches;
    const PointTimes one = times_of(point, 1);
    struct Pools {
        double attention = 0, expert = 0, head = 0, exchange = 0;
        double longer() const { return std::max(attention, expert); }
    };
    std::optional<Pools> best;
    for (int new_here = 0; new_here <= m; ++new_here) {
        for (int old_here = 0; old_here <= n; ++old_here) {
            const int here = new_here + old_here;
            if (here == 0 || here == m + n) continue;
            // What GPUs of both kinds take together, and the rows of the busiest of them.
            const auto together = [&](int of_new, int of_old, double GpuSeconds::*task) {
                const double rate = of_new / (one.of_new.*task) + of_old / (one.of_old.*task);
                return one.of_new.*task > 0 ? sequences / rate : 0.0;
            };
            const auto rows = [&](int of_new, int of_old, double seconds,
                                  double GpuSeconds::*task) {
                return std::max(of_new > 0 ? seconds / (one.of_new.*task) : 0.0,
                                of_old > 0 ? seconds / (one.of_old.*task) : 0.0);
            };
            Pools pools;
            pools.attention = together(new_here, old_here, &GpuSeconds::attention);
            pools.head = together(new_here, old_here, &GpuSeconds::head);
            pools.expert = together(m - new_here, n - old_here, &GpuSeconds::expert);
            pools.exchange =
                one.exchange_s *
                std::max(rows(new_here, old_here, pools.attention, &GpuSeconds::attention),
                         rows(m - new_here, n - old_here, pools.expert, &GpuSeconds::expert));
            const auto fits = [&](const ModelledGpus& gpus, int here, int all,
                                  const GpuSeconds& seconds) {
                const auto work = [&](double of_gpu) {
                    return Workload{
                        .model = point.model, .tokens = point.tokens, .sequences = of_gpu};
                };
                const double share = pools.expert / (sequences * seconds.expert),
                             held = point.model.experts * share;
                const double attention = attention_gpu_bytes(
                                 work(pools.attention / seconds.attention), micro_batches),
                             expert = expert_states(point, held) +
                                      expert_gpu_bytes(work(sequences * share), micro_batches,
                                                       std::max(1.0, held));
                const double room = usable_memory * gpus.device.memory_bytes.value;
                return (here == 0 || attention <= room) && (here == all || expert <= room);
            };
            if (!fits(point.new_gpus, new_here, m, one.of_new) ||
                !fits(point.old_gpus, old_here, n, one.of_old))
                continue;
            if (!best || pools.longer() < best->longer()) best = pools;
        }
    }
    if (!best) return std::nullopt;
    TrainingProfile profile;
    profile.layers = point.model.layers;
    profile.experts = 1;
    profile.new_kind.attention = nanoseconds(best->attention);
    profile.new_kind.expert = 1;
    profile.new_kind.head = nanoseconds(best->head);
    profile.old_kind.expert = nanoseconds(best->expert);
    profile.exchange = nanoseconds(best->exchange);
    const std::vector<int> none(static_cast<std::size_t>(profile.layers), 0);
    const TaskTimes ticks =
        task_times(profile, {1, 1}, Fraction(backward_over_forward), micro_batches);
    const double step_s =
        ticks.seconds(zebra_makespan(ticks, {.micro_batches = micro_batches, .offload = none})) /
        efficiency_of(point.calibration);
    return ArmResult{.tokens_per_s = tokens(point) / step_s, .micro_batches = micro_batches};
}

// The best of all that divide the batch of a GPU.
std::optional<ArmResult> best_over_micro_batches(
    const Point& point, const std::function<std::optional<ArmResult>(int)>& at) {
    std::optional<ArmResult> best;
    for (int micro_batches = 1; micro_batches <= point.batch; ++micro_batches)
        if (point.batch % micro_batches == 0) best = faster(best, at(micro_batches));
    return best;
}

// ---- GPUs that do the same at a time ------------------------------------------------------------

// In as many pieces as is best (Tutel, Lina).
double step_of_flows(const Point& point, const Lockstep& step) {
    const double row_bytes = bytes_of(point, step.rows_s * step.anchored_share.value_or(1));
    const auto in = [&](int pieces) {
        return run_jobs(point.flows, lockstep_jobs(step, point.model.layers, row_bytes, pieces));
    };
    double best = in(1);
    if (step.anchored_share) return best;
    for (const int pieces : piece_degrees)
        if (pieces > 1) best = std::min(best, in(pieces));
    return best;
}

double compute_of(const Point& point, const GpuSeconds& seconds) {
    return (1 + backward_over_forward) *
           (point.model.layers * (seconds.attention + seconds.expert) + seconds.head);
}

double step_of(const Point& point, const Lockstep& step) {
    if (point.flows) return step_of_flows(point, step);
    return compute_of(point, step.slowest()) +
           4.0 * point.model.layers * step.exchange_s * step.exposed();
}

// A GPU of expert parallelism works on a sequence at a time, or on its part of one: more of them
// follow one another and take as long, and their gradients are added up. `experts_share`: of all
// experts of a layer, and of the rows of as many sequences as GPUs.
bool ep_fits(const Point& point, const ModelledGpus& gpus, int all, double experts_share) {
    const double sequences = std::min(1.0, point.sequences() / all);
    const auto work = [&](double of_gpu) {
        return Workload{.model = point.model, .tokens = point.tokens, .sequences = of_gpu};
    };
    return whole_layer_gpu_bytes(work(sequences), work(sequences * all * experts_share), 1,
                                 point.model.experts * experts_share) <=
           usable_memory * gpus.device.memory_bytes.value;
}

// As expert parallelism, a sequence of a new GPU at a time.
bool split_fits(const Point& point) {
    const double m = point.new_gpus.gpus, n = point.old_gpus.gpus, held = point.model.experts / n;
    const auto work = [&](double sequences) {
        return Workload{.model = point.model, .tokens = point.tokens, .sequences = sequences};
    };
    return attention_gpu_bytes(work(1), 1) <=
               usable_memory * point.new_gpus.device.memory_bytes.value &&
           expert_states(point, held) + expert_gpu_bytes(work(m / n), 1, std::max(1.0, held)) <=
               usable_memory * point.old_gpus.device.memory_bytes.value;
}

bool fits(const Point& point, const Lockstep& step) {
    if (step.split) return split_fits(point);
    const auto kind_fits = [&](const ModelledGpus& gpus, int count) {
        return count == 0 || ep_fits(point, gpus, step.gpus(), 1.0 / step.gpus());
    };
    return kind_fits(point.new_gpus, step.new_gpus) && kind_fits(point.old_gpus, step.old_gpus);
}

std::optional<ArmResult> in_lockstep(const Point& point, Arm arm) {
    const std::vector<Lockstep> steps = locksteps(point, arm);
    for (const Lockstep& step : steps)
        if (!fits(point, step)) return std::nullopt;
    ArmResult result;
    for (const Lockstep& step : steps) {
        const double step_s = step_of(point, step);
        result.tokens_per_s += step.sequences * point.tokens / step_s;
        if (steps.size() > 1) continue;
        result.new_busy = compute_of(point, step.of_new) / step_s;
        result.old_busy = compute_of(point, step.of_old) / step_s;
    }
    return result;
}

// Every phase is shared by speed, to fractions of a sequence and of an expert.
std::optional<ArmResult> ep_uneven(const Point& point) {
    const double m = point.new_gpus.gpus, n = point.old_gpus.gpus;
    const PointTimes one = times_of(point, 1);
    const auto together = [&](double GpuSeconds::*task) {
        const double of_new = one.of_new.*task, of_old = one.of_old.*task;
        return of_new > 0 ? point.sequences() / (m / of_new + n / of_old) : 0.0;
    };
    const GpuSeconds each{.attention = together(&GpuSeconds::attention),
                          .expert = together(&GpuSeconds::expert),
                          .head = together(&GpuSeconds::head)};
    const auto share = [&](const GpuSeconds& seconds) {
        return each.expert / (point.sequences() * seconds.expert);
    };
    if (!ep_fits(point, point.new_gpus, int(m + n), share(one.of_new)) ||
        !ep_fits(point, point.old_gpus, int(m + n), share(one.of_old)))
        return std::nullopt;
    // The busiest GPU's rows: a new one sends most of its tokens' and gets most of all experts'.
    const double exchange_s =
        one.exchange_s * travelling(int(m + n)) *
        std::max(each.attention / one.of_new.attention, each.expert / one.of_new.expert);
    const Lockstep step{.of_new = each, .exchange_s = exchange_s, .piece_s = one.piece_s};
    return ArmResult{.tokens_per_s = tokens(point) / step_of(point, step)};
}

std::optional<ArmResult> pp(const Point& point) {
    const std::optional<double> step_s = pipelines_step_s(point);
    if (!step_s) return std::nullopt;
    return ArmResult{.tokens_per_s = tokens(point) / *step_s};
}

}  // namespace

bool has_flows_version(Arm arm) {
    return arm != Arm::pp && arm != Arm::ep_uneven && arm != Arm::balance;
}

std::optional<ArmResult> run_arm(const Point& point, Arm arm) {
    if (point.flows && !has_flows_version(arm))
        throw UserError(fmt::format("{} has no version with network flows", to_string(arm)));
    const auto group = [&](Asym asym) {
        return best_over_micro_batches(point, [&](int r) { return zebra(point, asym, r); });
    };
    switch (arm) {
        case Arm::zebra:
            return group(Asym::off);
        case Arm::hetermoe:
            return group(Asym::published);
        case Arm::search:
            return group(Asym::search);
        case Arm::ep:
        case Arm::dist_ep:
        case Arm::ep_ideal:
            return in_lockstep(point, arm);
        case Arm::pp:
            return pp(point);
        case Arm::ep_uneven:
            return ep_uneven(point);
        case Arm::balance:
            return best_over_micro_batches(point, [&](int r) { return balance(point, r); });
    }
    return std::nullopt;
}

}  // namespace assay::hetermoe
