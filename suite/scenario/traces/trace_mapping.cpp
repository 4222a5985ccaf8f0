// A trace's many nodes become a few workers: how many are lost and join at each moment, and who.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "suite/scenario/dice.hpp"
#include "suite/scenario/traces/availability_trace.hpp"

namespace assay {
namespace {

// Writes the fault plan: workers are named in the order in which they appear.
class PlanWriter {
  public:
    explicit PlanWriter(std::uint64_t seed) : dice_(seed) {}

    void start(int workers) {
        mapped_.initial_workers = workers;
        for (int i = 0; i < workers; ++i) live_.push_back(next_name_++);
        note(0);
    }
    int alive() const { return static_cast<int>(live_.size()); }
    int next_name() const { return next_name_; }

    void kill_someone(double t_s) {
        const auto victim = dice_.below(live_.size());
        kill(live_[static_cast<std::size_t>(victim)], t_s);
    }
    void kill(int worker, double t_s) {
        Fault fault;
        fault.rank = worker;
        fault.t_s = t_s;
        mapped_.faults.faults.push_back(fault);
        live_.erase(std::find(live_.begin(), live_.end(), worker));
    }
    void join(int count, double t_s) {
        if (count == 0) return;
        Fault fault;
        fault.kind = FaultKind::join;
        fault.count = count;
        fault.t_s = t_s;
        mapped_.faults.faults.push_back(fault);
        for (int i = 0; i < count; ++i) live_.push_back(next_name_++);
    }
    void note(double t_s) {
        if (!mapped_.alive.empty() && mapped_.alive.back() == alive()) return;
        mapped_.t_s.push_back(t_s);
        mapped_.alive.push_back(alive());
    }
    MappedTrace result() { return std::move(mapped_); }

  private:
    Dice dice_;
    MappedTrace mapped_;
    std::vector<int> live_;
    int next_name_ = 0;
};

struct Mapping {
    const AvailabilityTrace& trace;
    NodeMapping kind;
    int cap, floor, most;
};

[[noreturn]] void nobody_left(const Mapping& how, double t_s) {
    throw UserError(fmt::format(
        "trace '{}' mapped onto at most {} workers ({}) leaves nobody alive at {} s (minute "
        "{:.4g}); take an earlier part of it, or the mapping delta_clamped with a floor of 1 or "
        "more",
        how.trace.id, how.cap, to_string(how.kind), t_s, t_s / 60));
}

// What the mapping makes of `raw` nodes (min, scaled).
int level(const Mapping& how, int raw) {
    if (how.kind == NodeMapping::min) return std::min(raw, how.cap);
    return static_cast<int>(
        std::lround(static_cast<double>(raw) * how.cap / std::max(how.most, 1)));
}

void map_counts(const Mapping& how, const std::vector<TraceMoment>& all, PlanWriter& plan) {
    const bool deltas = how.kind == NodeMapping::delta_clamped;
    int raw = static_cast<int>(all.front().added.size());
    plan.start(deltas ? std::clamp(raw, how.floor, how.cap) : level(how, raw));
    if (plan.alive() < 1) nobody_left(how, 0);
    for (std::size_t i = 1; i < all.size(); ++i) {
        const int lost = static_cast<int>(all[i].lost.size());
        const int added = static_cast<int>(all[i].added.size());
        const int low = deltas ? std::max(plan.alive() - lost, how.floor) : level(how, raw - lost);
        if (low < 1) nobody_left(how, all[i].t_s);
        while (plan.alive() > low) plan.kill_someone(all[i].t_s);
        raw += added - lost;
        const int high = deltas ? std::min(low + added, how.cap) : level(how, raw);
        plan.join(high - low, all[i].t_s);
        plan.note(all[i].t_s);
    }
}

void map_names(const Mapping& how, const std::vector<TraceMoment>& all, PlanWriter& plan) {
    std::unordered_map<std::string, int> worker;  // of every tracked name; -1: not there
    const auto tracked = [&](const std::string& node) {
        if (worker.count(node)) return true;
        if (static_cast<int>(worker.size()) == how.cap) return false;
        worker[node] = -1;
        return true;
    };
    int initial = 0;
    for (const std::string& node : all.front().added)
        if (tracked(node)) worker[node] = initial++;
    plan.start(initial);
    for (std::size_t i = 1; i < all.size(); ++i) {
        const TraceMoment& moment = all[i];
        for (const std::string& node : moment.lost) {
            const auto found = worker.find(node);
            if (found == worker.end()) continue;
            if (plan.alive() == 1) nobody_left(how, moment.t_s);
            plan.kill(found->second, moment.t_s);
            found->second = -1;
        }
        int newcomers = 0;
        for (const std::string& node : moment.added)
            if (tracked(node)) worker[node] = plan.next_name() + newcomers++;
        plan.join(newcomers, moment.t_s);
        plan.note(moment.t_s);
    }
}

}  // namespace

MappedTrace map_trace(const AvailabilityTrace& trace, NodeMapping mapping, int cap, int floor,
                      std::uint64_t seed) {
    if (cap < 1 || cap > most_trace_nodes)
        throw UserError(
            fmt::format("a trace is mapped onto 1 to {} workers, not {}", most_trace_nodes, cap));
    if (mapping == NodeMapping::delta_clamped && (floor < 0 || floor > cap))
        throw UserError(
            fmt::format("the floor of a mapped trace is 0 to {} workers, not {}", cap, floor));
    const std::vector<TraceMoment> all = moments(trace);
    if (all.front().added.empty())
        throw UserError(fmt::format(
            "trace '{}' has no node at time 0; take a part of it that starts with one", trace.id));
    const Mapping how{trace, mapping, cap, floor, trace_statistics(trace).most};
    PlanWriter plan(seed);
    if (mapping == NodeMapping::tracked)
        map_names(how, all, plan);
    else
        map_counts(how, all, plan);
    return plan.result();
}

}  // namespace assay
