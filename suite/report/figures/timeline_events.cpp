#include "suite/report/figures/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace assay::report {

const EventKind& kind_of(EventKinds kinds, std::string_view name) {
    static const EventKind undeclared;
    for (const EventKind& kind : kinds)
        if (kind.name == name) return kind;
    return undeclared;
}

std::size_t slot_of(EventColour colour) {
    return static_cast<std::size_t>(colour);  // declared in the palette's order
}

double recorded_end(const store::Sample& sample) {
    std::optional<double> end;
    const auto see = [&](double t_s) {
        if (std::isfinite(t_s)) end = std::max(end.value_or(t_s), t_s);
    };
    for (const store::Event& event : sample.events) see(event.t_s);
    for (const store::TimeSeries& series : sample.series_data)
        for (const double t_s : series.t_s) see(t_s);
    return end.value_or(sample.seconds);
}

double end_of(const store::Sample& sample) {
    const double end = recorded_end(sample);
    return end > 0 ? end : std::max(std::isfinite(sample.seconds) ? sample.seconds : 0, 1.0);
}

std::map<int, std::vector<Presence>> presence_of(const store::Sample& sample, double end_s,
                                                 EventKinds kinds) {
    struct Move {
        double t_s;
        EventLane what;
    };
    std::map<int, std::vector<Move>> moves;
    for (const store::Event& event : sample.events) {
        if (event.rank < 0) continue;
        const EventLane what = kind_of(kinds, event.kind).lane;
        std::vector<Move>& of_rank = moves[event.rank];
        if (what == EventLane::arrival || what == EventLane::departure || what == EventLane::death)
            of_rank.push_back({event.t_s, what});
    }
    std::map<int, std::vector<Presence>> lanes;
    for (auto& [rank, of_rank] : moves) {
        std::stable_sort(of_rank.begin(), of_rank.end(),
                         [](const Move& a, const Move& b) { return a.t_s < b.t_s; });
        bool here = of_rank.empty() || of_rank.front().what != EventLane::arrival;
        double since = 0;
        std::vector<Presence>& lane = lanes[rank];
        for (const auto& [t_s, what] : of_rank) {
            const bool comes = what == EventLane::arrival;
            if (comes == here) continue;
            if (comes)
                since = t_s;
            else
                lane.push_back({since, t_s, what == EventLane::death});
            here = comes;
        }
        if (here) lane.push_back({since, end_s, false});
    }
    return lanes;
}

const store::TimeSeries* recorded_curve(const store::Sample& sample, std::string_view name) {
    for (const store::TimeSeries& series : sample.series_data)
        if (series.name == name && !series.t_s.empty() && series.t_s.size() == series.values.size())
            return &series;
    return nullptr;
}

std::optional<double> recorded_seconds(const store::Event& event) {
    if (!event.detail.is_object()) return std::nullopt;
    const auto found = event.detail.find("seconds");
    if (found == event.detail.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
}

double lasted(const store::Event& event) { return recorded_seconds(event).value_or(0); }

std::string reason_of(const store::Event& event) {
    if (!event.detail.is_object()) return "";
    const auto found = event.detail.find("reason");
    if (found == event.detail.end() || !found->is_string()) return "";
    std::string words = found->get<std::string>();
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
}

namespace {

bool is_labelled(const EventKind& kind) {
    return kind.lane != EventLane::rank && kind.lane != EventLane::row;
}

/// A cause is named by what was done: its detail's "kind", else as its own kind.
std::string named(const store::Event& event, const EventKind& of) {
    if (of.lane == EventLane::cause && event.detail.is_object()) {
        const auto kind = event.detail.find("kind");
        if (kind != event.detail.end() && kind->is_string()) return kind->get<std::string>();
    }
    return event.kind;
}

std::string duration(double seconds) {
    if (seconds < 1e-3) return fmt::format("{:.0f} µs", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
    return fmt::format("{:.2f} s", seconds);
}

}  // namespace

std::vector<TimelineMark> timeline_marks(std::span<const store::Event> events, double merge_s,
                                         EventKinds kinds) {
    std::vector<const store::Event*> drawn;
    for (const store::Event& event : events)
        if (is_labelled(kind_of(kinds, event.kind))) drawn.push_back(&event);
    std::stable_sort(drawn.begin(), drawn.end(),
                     [](const auto* a, const auto* b) { return a->t_s < b->t_s; });

    std::vector<TimelineMark> marks;
    std::vector<std::string> names;
    for (const store::Event* event : drawn) {
        const EventKind& kind = kind_of(kinds, event->kind);
        const std::string name = named(*event, kind);
        const bool same = !marks.empty() && marks.back().kind.name == kind.name &&
                          names.back() == name && event->t_s - marks.back().t_s <= merge_s;
        if (same) {
            ++marks.back().count;
        } else {
            marks.push_back({kind, event->t_s, 1, {}, ""});
            names.push_back(name);
        }
        std::vector<int>& ranks = marks.back().ranks;
        if (event->rank >= 0 && std::find(ranks.begin(), ranks.end(), event->rank) == ranks.end())
            ranks.insert(std::upper_bound(ranks.begin(), ranks.end(), event->rank), event->rank);
    }
    double cause_s = 0;
    bool caused = false;
    for (std::size_t i = 0; i < marks.size(); ++i) {
        TimelineMark& mark = marks[i];
        mark.text = names[i];
        if (mark.ranks.size() == 1)
            mark.text += fmt::format(" r{}", mark.ranks.front());
        else if (mark.count > 1)
            mark.text += fmt::format(" ×{}", mark.count);
        const bool starts =
            mark.kind.lane == EventLane::cause || mark.kind.lane == EventLane::arrival || !caused;
        mark.text += starts ? fmt::format(" {:.3f} s", mark.t_s)
                            : fmt::format(" +{}", duration(mark.t_s - cause_s));
        if (starts) cause_s = mark.t_s;
        caused = true;
    }
    return marks;
}

std::vector<PlacedLabel> place_labels(std::span<const std::pair<double, double>> x_and_width,
                                      double low, double high, std::size_t most_rows,
                                      std::span<const std::size_t> order) {
    constexpr double gap = 8;
    std::vector<std::vector<std::pair<double, double>>> taken(most_rows);  // from, to
    std::vector<PlacedLabel> placed(x_and_width.size());
    for (std::size_t turn = 0; turn < placed.size(); ++turn) {
        const std::size_t which = order.empty() ? turn : order[turn];
        const auto& [x, width] = x_and_width[which];
        const double left = std::max(low, std::min(x - 2, high - width));
        const auto row = std::find_if(taken.begin(), taken.end(), [&](const auto& others) {
            return std::all_of(others.begin(), others.end(), [&](const auto& other) {
                return left >= other.second + gap || left + width + gap <= other.first;
            });
        });
        placed[which] = {static_cast<std::size_t>(row - taken.begin()), left, row != taken.end()};
        if (row == taken.end())
            placed[which].row = 0;
        else
            row->emplace_back(left, left + width);
    }
    return placed;
}

}  // namespace assay::report
