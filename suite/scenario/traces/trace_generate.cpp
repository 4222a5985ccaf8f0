// Traces drawn from a seed: three processes of losses and returns.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "suite/scenario/dice.hpp"
#include "suite/scenario/traces/availability_trace.hpp"

namespace assay {
namespace {

using Kind = TraceProcess::Kind;

double loss_of(const TraceProcess& process) {
    return process.loss_per_hour.value_or(usual_loss_per_hour(process.kind));
}

class Generator {
  public:
    explicit Generator(const TraceProcess& process)
        : process_(process),
          loss_per_hour_(loss_of(process)),
          dice_(process.seed),
          end_s_(process.hours * 3600) {
        for (int i = 0; i < process.nodes; ++i) add(0);
    }

    AvailabilityTrace run() {
        if (process_.kind == Kind::hourly)
            for (int hour = 0; hour * 3600 < end_s_; ++hour) run_hour(hour * 3600);
        else
            run_races();
        trace_.duration_s = end_s_;
        return std::move(trace_);
    }

  private:
    void record(double t_s, bool add, const std::string& node) {
        if (trace_.events.size() >= most_trace_events)
            throw UserError(fmt::format(
                "the generated trace has more than {} events; give fewer hours, nodes or losses",
                most_trace_events));
        trace_.events.push_back({t_s, add, node});
    }
    void add(double t_s) {
        alive_.push_back(fmt::format("node{}", ++named_));
        record(t_s, true, alive_.back());
    }
    void lose(double t_s, std::size_t who) {
        record(t_s, false, alive_[who]);
        std::swap(alive_[who], alive_.back());  // their order means nothing
        alive_.pop_back();
    }
    void lose_someone(double t_s) {
        lose(t_s, static_cast<std::size_t>(dice_.below(alive_.size())));
    }
    int missing() const { return process_.nodes - static_cast<int>(alive_.size()); }

    // Hours until the next of `count` equal sources, each firing `per_hour` times an hour.
    double wait_h(int count, double per_hour) {
        if (count == 0 || per_hour == 0) return std::numeric_limits<double>::infinity();
        return dice_.exponential() / (count * per_hour);
    }

    // poisson and bursts: losses and returns race; without memory, so both are drawn anew after
    // each. Times are rounded up to a millisecond.
    void run_races() {
        const bool bursts = process_.kind == Kind::bursts;
        for (double now_h = 0;;) {
            const int alive = static_cast<int>(alive_.size());
            const double loss_h = wait_h(bursts ? std::min(alive, 1) : alive, loss_per_hour_);
            const double return_h = wait_h(missing(), process_.return_per_hour);
            now_h += std::min(loss_h, return_h);
            const double t_s = std::max(1.0, std::ceil(now_h * 3'600'000)) / 1000;
            if (!(t_s <= end_s_)) return;
            if (return_h < loss_h) {
                add(t_s);
                continue;
            }
            int victims = 1;
            if (bursts)
                victims +=
                    static_cast<int>(dice_.below(static_cast<std::uint64_t>(process_.burst)));
            for (victims = std::min(victims, alive); victims > 0; --victims) lose_someone(t_s);
        }
    }

    // Bamboo's process for the hour that begins at `start_s`. Its seconds are 1 to 3600, so that
    // nothing falls on time 0.
    void run_hour(double start_s) {
        struct Planned {
            int second;
            bool add;
            std::string node;  // of a removal
        };
        std::vector<Planned> planned;
        const auto second = [&] { return 1 + static_cast<int>(dice_.below(3600)); };
        const auto before = [](const Planned& a, const Planned& b) {
            return a.second != b.second ? a.second < b.second : a.add < b.add;  // removals first
        };
        const double returned = process_.returns_vary ? dice_.uniform() : process_.return_per_hour;
        int wanted = missing();
        for (const std::string& node : alive_)
            if (dice_.chance(loss_per_hour_)) {
                planned.push_back({second(), false, node});
                ++wanted;
            }
        for (; wanted > 0; --wanted)
            if (dice_.chance(returned)) planned.push_back({second(), true, ""});
        std::stable_sort(planned.begin(), planned.end(), before);
        for (std::size_t i = 0; i < planned.size(); ++i) {
            const Planned event = planned[i];
            const double t_s = start_s + event.second;
            if (t_s > end_s_) return;
            if (!event.add) {
                lose(t_s,
                     static_cast<std::size_t>(std::find(alive_.begin(), alive_.end(), event.node) -
                                              alive_.begin()));
                continue;
            }
            if (missing() == 0) continue;
            add(t_s);
            // The newcomer is drawn like everyone; a second before its arrival spares it.
            if (!dice_.chance(loss_per_hour_)) continue;
            const Planned removal{second(), false, alive_.back()};
            if (removal.second > event.second)
                planned.insert(std::upper_bound(planned.begin() + static_cast<std::ptrdiff_t>(i),
                                                planned.end(), removal, before),
                               removal);
        }
    }

    const TraceProcess& process_;
    double loss_per_hour_;
    Dice dice_;
    double end_s_;
    AvailabilityTrace trace_;
    std::vector<std::string> alive_;
    long named_ = 0;
};

void check(const TraceProcess& process) {
    const auto refuse = [](const std::string& what) {
        throw UserError("generated trace: " + what);
    };
    const bool hourly = process.kind == Kind::hourly;
    if (process.nodes < 1 || process.nodes > most_trace_nodes)
        refuse(fmt::format("{} nodes: give 1 to {}", process.nodes, most_trace_nodes));
    if (!(process.hours > 0 && process.hours <= longest_generated_h))
        refuse(fmt::format("{} hours: give more than 0, at most {}", process.hours,
                           longest_generated_h));
    for (const double rate : {loss_of(process), process.return_per_hour})
        if (!(rate >= 0 && rate <= (hourly ? 1 : 3600)))
            refuse(fmt::format("{} per hour: give {}", rate,
                               hourly ? "a probability from 0 to 1" : "0 to 3600"));
    if (process.returns_vary && !hourly)
        refuse("only the hourly process has returns that vary from hour to hour");
    if (process.kind == Kind::bursts && process.burst < 1)
        refuse(fmt::format("bursts of up to {} nodes: give 1 or more", process.burst));
}

}  // namespace

double usual_loss_per_hour(TraceProcess::Kind kind) { return kind == Kind::bursts ? 3 : 0.1; }

AvailabilityTrace generate_trace(const TraceProcess& process) {
    check(process);
    AvailabilityTrace trace = Generator(process).run();
    trace.id =
        fmt::format("{}-{}nodes-seed{}", to_string(process.kind), process.nodes, process.seed);
    trace.says = fmt::format(
        "generated: {}, {} nodes, {} h, losses {} per hour, returns {} per hour{}, seed {}",
        to_string(process.kind), process.nodes, process.hours, loss_of(process),
        process.returns_vary ? "anew drawn" : fmt::format("{}", process.return_per_hour),
        process.kind == Kind::bursts ? fmt::format(", bursts of 1 to {}", process.burst) : "",
        process.seed);
    return trace;
}

}  // namespace assay
