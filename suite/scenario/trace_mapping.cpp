// A trace's many nodes become a few workers: how many are lost and join at each moment, and who.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "suite/scenario/dice.hpp"
#include "suite/scenario/trace_limits.hpp"
#include "suite/scenario/trace_moments.hpp"

namespace assay {
namespace {

constexpr NodeMapping mappings[] = {NodeMapping::min, NodeMapping::delta_clamped,
                                    NodeMapping::tracked, NodeMapping::scaled};

// Writes the fault plan: workers are named in the order in which they appear.
class Cast {
  public:
    explicit Cast(std::uint64_t seed) : dice_(seed) {}

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

struct Question {
    const AvailabilityTrace& trace;
    NodeMapping mapping;
    int cap, floor, most;
};

[[noreturn]] void nobody_left(const Question& question, double t_s) {
    throw UserError(fmt::format(
        "trace '{}' mapped onto at most {} workers ({}) leaves nobody alive at {} s (minute "
        "{:.4g}); take an earlier part of it, or the mapping delta_clamped with a floor of 1 or "
        "more",
        question.trace.id, question.cap, to_string(question.mapping), t_s, t_s / 60));
}

// What the mapping makes of `raw` nodes (min, scaled).
int level(const Question& question, int raw) {
    if (question.mapping == NodeMapping::min) return std::min(raw, question.cap);
    return static_cast<int>(
        std::lround(static_cast<double>(raw) * question.cap / std::max(question.most, 1)));
}

void map_counts(const Question& question, const std::vector<TraceMoment>& all, Cast& cast) {
    const bool deltas = question.mapping == NodeMapping::delta_clamped;
    int raw = static_cast<int>(all.front().added.size());
    cast.start(deltas ? std::clamp(raw, question.floor, question.cap) : level(question, raw));
    if (cast.alive() < 1) nobody_left(question, 0);
    for (std::size_t i = 1; i < all.size(); ++i) {
        const int lost = static_cast<int>(all[i].lost.size());
        const int added = static_cast<int>(all[i].added.size());
        const int low =
            deltas ? std::max(cast.alive() - lost, question.floor) : level(question, raw - lost);
        if (low < 1) nobody_left(question, all[i].t_s);
        while (cast.alive() > low) cast.kill_someone(all[i].t_s);
        raw += added - lost;
        const int high = deltas ? std::min(low + added, question.cap) : level(question, raw);
        cast.join(high - low, all[i].t_s);
        cast.note(all[i].t_s);
    }
}

void map_names(const Question& question, const std::vector<TraceMoment>& all, Cast& cast) {
    std::unordered_map<std::string, int> worker;  // of every tracked name; -1: not there
    const auto tracked = [&](const std::string& node) {
        if (worker.count(node)) return true;
        if (static_cast<int>(worker.size()) == question.cap) return false;
        worker[node] = -1;
        return true;
    };
    int initial = 0;
    for (const std::string& node : all.front().added)
        if (tracked(node)) worker[node] = initial++;
    cast.start(initial);
    for (std::size_t i = 1; i < all.size(); ++i) {
        const TraceMoment& moment = all[i];
        for (const std::string& node : moment.lost) {
            const auto found = worker.find(node);
            if (found == worker.end()) continue;
            if (cast.alive() == 1) nobody_left(question, moment.t_s);
            cast.kill(found->second, moment.t_s);
            found->second = -1;
        }
        int newcomers = 0;
        for (const std::string& node : moment.added)
            if (tracked(node)) worker[node] = cast.next_name() + newcomers++;
        cast.join(newcomers, moment.t_s);
        cast.note(moment.t_s);
    }
}

}  // namespace

std::string_view to_string(NodeMapping mapping) {
    switch (mapping) {
        case NodeMapping::min:
            return "min";
        case NodeMapping::delta_clamped:
            return "delta_clamped";
        case NodeMapping::tracked:
            return "tracked";
        case NodeMapping::scaled:
            return "scaled";
    }
    return "?";
}

std::optional<NodeMapping> parse_node_mapping(std::string_view text) {
    for (const NodeMapping mapping : mappings)
        if (to_string(mapping) == text) return mapping;
    return std::nullopt;
}

MappedTrace map_trace(const AvailabilityTrace& trace, NodeMapping mapping, int cap, int floor,
                      std::uint64_t seed) {
    if (cap < 1 || cap > most_trace_nodes)
        throw UserError(
            fmt::format("a trace is mapped onto 1 to {} workers, not {}", most_trace_nodes, cap));
    if (floor < 0 || floor > cap)
        throw UserError(
            fmt::format("the floor of a mapped trace is 0 to {} workers, not {}", cap, floor));
    const std::vector<TraceMoment> all = moments(trace);
    if (all.front().added.empty())
        throw UserError(fmt::format(
            "trace '{}' has no node at time 0; take a part of it that starts with one", trace.id));
    const Question question{trace, mapping, cap, floor, trace_statistics(trace).most};
    Cast cast(seed);
    if (mapping == NodeMapping::tracked)
        map_names(question, all, cast);
    else
        map_counts(question, all, cast);
    return cast.result();
}

}  // namespace assay
