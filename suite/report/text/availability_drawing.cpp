#include "suite/report/text/availability_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::report {
namespace {

constexpr std::size_t label_width = 6;  // "  32 ┤"

struct TimeAxis {
    const char* unit;
    double unit_s;
    double tick_s;
};

// Ticks at least ten columns apart.
TimeAxis time_axis(double duration_s, std::size_t columns) {
    TimeAxis axis{"s", 1, 1};
    if (duration_s > 120) axis = {"min", 60, 60};
    if (duration_s > 3 * 3600) axis = {"h", 3600, 3600};
    const double at_least_s = duration_s / static_cast<double>(columns) * 10;
    double factor = 1;
    for (const double next : {1, 2, 5, 10, 20, 30, 60, 120, 240, 480, 1000, 2000, 4000, 8000}) {
        factor = next;
        if (factor * axis.unit_s >= at_least_s) break;
    }
    // Longer than any tick above suits: powers of ten.
    while (factor * axis.unit_s < at_least_s) factor *= 10;
    axis.tick_s = factor * axis.unit_s;
    return axis;
}

class CurveCanvas {
  public:
    CurveCanvas(const CountCurve& curve, std::size_t width)
        : curve_(curve),
          columns_(std::max<std::size_t>(width, 30) - label_width),
          column_s_(std::max(curve.duration_s, 1e-3) / static_cast<double>(columns_)),
          top_(std::max(1, *std::max_element(curve.alive.begin(), curve.alive.end()))) {}

    std::string draw() const { return bars() + axis() + losses(); }

  private:
    std::size_t column_of(double t_s) const {
        return std::min(columns_ - 1, static_cast<std::size_t>(t_s / column_s_));
    }

    // The fewest nodes in the time of every column.
    std::vector<int> heights() const {
        std::vector<int> fewest(columns_, top_);
        for (std::size_t i = 0; i < curve_.t_s.size(); ++i) {
            const double until_s =
                i + 1 < curve_.t_s.size() ? curve_.t_s[i + 1] : curve_.duration_s;
            const std::size_t first = column_of(curve_.t_s[i]);
            std::size_t last = column_of(until_s);
            // A change on the border of two columns belongs to the later one.
            if (last > first && static_cast<double>(last) * column_s_ >= until_s) --last;
            for (std::size_t column = first; column <= last; ++column)
                fewest[column] = std::min(fewest[column], curve_.alive[i]);
        }
        return fewest;
    }

    std::string bars() const {
        static constexpr const char* eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
        const std::vector<int> fewest = heights();
        const int rows = top_ <= 10 ? top_ : 8;
        std::string out;
        for (int row = rows; row > 0; --row) {
            const double high = static_cast<double>(top_) * row / rows;
            const double low = static_cast<double>(top_) * (row - 1) / rows;
            const bool labelled = row == rows || (row * 2 == rows && top_ % 2 == 0);
            std::string line = labelled ? fmt::format("{:>4} ┤", std::lround(high)) : "     │";
            for (const int height : fewest) {
                const double filled = std::clamp((height - low) / (high - low), 0.0, 1.0);
                line += eighths[std::lround(filled * 8)];
            }
            line.erase(line.find_last_not_of(' ') + 1);
            out += line + '\n';
        }
        return out;
    }

    std::string axis() const {
        const TimeAxis axis = time_axis(curve_.duration_s, columns_);
        std::string line = "   0 └", labels(label_width, ' ');
        std::size_t drawn = 0;
        for (int tick = 0; tick * axis.tick_s <= curve_.duration_s; ++tick) {
            const std::size_t column = column_of(tick * axis.tick_s);
            const std::string text = fmt::format("{:g}", tick * axis.tick_s / axis.unit_s);
            if (label_width + column + text.size() + 4 > label_width + columns_) break;
            for (; drawn < column; ++drawn) line += "─";
            line += "┬";
            ++drawn;
            labels.resize(label_width + column, ' ');
            labels += text;
        }
        for (; drawn < columns_; ++drawn) line += "─";
        return line + '\n' + labels + ' ' + axis.unit + '\n';
    }

    std::string losses() const {
        if (curve_.losses.empty()) return "";
        std::vector<int> lost(columns_, 0);
        for (const CountCurve::Loss& loss : curve_.losses) lost[column_of(loss.t_s)] += loss.nodes;
        // Each number begins below its column, in the first line in which it touches no other.
        std::vector<std::string> lines;
        for (std::size_t column = 0; column < columns_; ++column) {
            if (lost[column] == 0) continue;
            const std::string number = std::to_string(lost[column]);
            const std::size_t at = label_width + column;
            auto line = std::find_if(lines.begin(), lines.end(),
                                     [&](const std::string& one) { return one.size() < at; });
            if (line == lines.end()) {
                lines.emplace_back(lines.empty() ? " lost" : "");
                line = lines.end() - 1;
            }
            line->resize(at, ' ');
            *line += number;
        }
        std::string out;
        for (const std::string& line : lines) out += line + '\n';
        return out;
    }

    const CountCurve& curve_;
    std::size_t columns_;
    double column_s_;
    int top_;
};

}  // namespace

CountCurve curve_of(const AvailabilityTrace& trace) {
    CountCurve curve;
    curve.duration_s = trace.duration_s;
    int alive = 0;
    for (const TraceMoment& moment : moments(trace)) {
        const int lost = static_cast<int>(moment.lost.size());
        alive += static_cast<int>(moment.added.size()) - lost;
        if (lost > 0) curve.losses.push_back({moment.t_s, lost});
        if (!curve.alive.empty() && curve.alive.back() == alive) continue;
        curve.t_s.push_back(moment.t_s);
        curve.alive.push_back(alive);
    }
    return curve;
}

CountCurve curve_of(const MappedTrace& mapped, double duration_s) {
    CountCurve curve{duration_s, mapped.t_s, mapped.alive, {}};
    for (const Fault& fault : mapped.faults.faults)
        if (fault.kind == FaultKind::kill) curve.losses.push_back({*fault.t_s, 1});
    return curve;
}

std::string draw_counts(const CountCurve& curve, std::size_t width) {
    return CurveCanvas(curve, width).draw();
}

}  // namespace assay::report
