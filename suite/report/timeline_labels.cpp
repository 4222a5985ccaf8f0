// See timeline_labels.hpp.
#include "suite/report/timeline_labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace assay::report {
namespace {

struct Kind {
    std::string_view name;
    std::size_t slot;
};
constexpr std::array kinds{Kind{"fault", 1},      Kind{"death", 1},    Kind{"detection", 4},
                           Kind{"regroup", 0},    Kind{"transfer", 5}, Kind{"join", 2},
                           Kind{"checkpoint", 3}, Kind{"restart", 3},  Kind{"rebalance", 6},
                           Kind{"leave", 7}};

const Kind* find(std::string_view name) {
    const auto at = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const Kind& kind) { return kind.name == name; });
    return at == kinds.end() ? nullptr : &*at;
}

/// A fault is named by what was done: its detail's "kind", else "fault".
std::string named(const store::Event& event) {
    if (event.kind == "fault" && event.detail.is_object()) {
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

std::size_t event_slot(std::string_view kind) {
    const Kind* found = find(kind);
    return found ? found->slot : 7;
}

std::vector<TimelineMark> timeline_marks(std::span<const store::Event> events, double merge_s) {
    std::vector<const store::Event*> drawn;
    for (const store::Event& event : events)
        if (find(event.kind)) drawn.push_back(&event);
    std::stable_sort(drawn.begin(), drawn.end(),
                     [](const auto* a, const auto* b) { return a->t_s < b->t_s; });

    std::vector<TimelineMark> marks;
    std::vector<std::string> names;
    for (const store::Event* event : drawn) {
        const std::string name = named(*event);
        const bool same = !marks.empty() && marks.back().kind == event->kind &&
                          names.back() == name && event->t_s - marks.back().t_s <= merge_s;
        if (same) {
            ++marks.back().count;
        } else {
            marks.push_back({event->kind, event->t_s, 1, {}, ""});
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
        const bool starts = mark.kind == "fault" || mark.kind == "join" || !caused;
        mark.text += starts ? fmt::format(" {:.3f} s", mark.t_s)
                            : fmt::format(" +{}", duration(mark.t_s - cause_s));
        if (starts) cause_s = mark.t_s;
        caused = true;
    }
    return marks;
}

std::vector<PlacedLabel> place_labels(std::span<const std::pair<double, double>> x_and_width,
                                      double low, double high, std::size_t most_rows) {
    constexpr double gap = 8;
    std::vector<double> row_ends;
    std::vector<PlacedLabel> placed;
    for (const auto& [x, width] : x_and_width) {
        const double left = std::max(low, std::min(x - 2, high - width));
        std::size_t row = 0;
        while (row < row_ends.size() && row_ends[row] + gap > left) ++row;
        if (row == most_rows) {
            placed.push_back({0, left, false});
            continue;
        }
        if (row == row_ends.size()) row_ends.push_back(low - gap);
        row_ends[row] = left + width;
        placed.push_back({row, left, true});
    }
    return placed;
}

}  // namespace assay::report
