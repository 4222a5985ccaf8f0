#include "suite/report/trend/trend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "suite/report/figures/axis_scale.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::report {
namespace {

constexpr std::size_t chart_rows = 13;

std::string in_colour(const std::string& text, Turn turn, const TrendLook& look) {
    if (!look.colours || turn == Turn::neither) return text;
    return coloured(text, turn == Turn::better ? Colour::green : Colour::red);
}

class TrendChart {
  public:
    TrendChart(const Trend& trend, const TrendLook& look)
        : trend_(trend),
          look_(look),
          scale_(scale_of(trend)),
          label_width_(widest_label()),
          columns_(std::max<std::size_t>(look.columns, 40) - label_width_ - 2),
          cells_(chart_rows, std::vector<std::string>(columns_, " ")) {}

    std::string draw() {
        draw_levels();
        draw_uprights();
        for (std::size_t i = 0; i < trend_.points.size(); ++i)
            cells_[row_of(trend_.points[i].median)][column_of(i)] = "●";
        std::string out;
        for (std::size_t row = 0; row < chart_rows; ++row) out += line(row);
        return out + axis();
    }

  private:
    static AxisScale scale_of(const Trend& trend) {
        double low = INFINITY, high = -INFINITY;
        for (const auto& point : trend.points) {
            low = std::min(low, point.median);
            high = std::max(high, point.median);
        }
        return AxisScale::linear(low, high);
    }

    std::size_t widest_label() const {
        std::size_t width = 1;
        for (const double tick : scale_.ticks()) width = std::max(width, scale_.label(tick).size());
        return width;
    }

    std::size_t row_of(double value) const {
        const double down = (1 - scale_.position(value)) * (chart_rows - 1);
        return static_cast<std::size_t>(std::lround(std::clamp(down, 0.0, chart_rows - 1.0)));
    }

    /// Few sessions keep a distance at which they still look like one curve.
    std::size_t column_of(std::size_t point) const {
        if (trend_.points.size() < 2) return 0;
        constexpr double widest = 6;
        const auto gaps = static_cast<double>(trend_.points.size() - 1);
        const double step = std::min(widest, static_cast<double>(columns_ - 1) / gaps);
        return static_cast<std::size_t>(std::lround(static_cast<double>(point) * step));
    }

    void draw_levels() {
        for (std::size_t i = 0; i <= trend_.changes.size() && !trend_.changes.empty(); ++i) {
            const bool last = i == trend_.changes.size();
            const auto begin =
                i == 0 ? 0 : static_cast<std::size_t>(trend_.changes[i - 1].at.index);
            const auto end =
                last ? trend_.points.size() : static_cast<std::size_t>(trend_.changes[i].at.index);
            const double level =
                last ? trend_.changes[i - 1].at.after : trend_.changes[i].at.before;
            for (std::size_t column = column_of(begin); column <= column_of(end - 1); ++column)
                cells_[row_of(level)][column] = "╌";
        }
    }

    void draw_uprights() {
        for (const TrendChange& change : trend_.changes) {
            const std::size_t column = column_of(static_cast<std::size_t>(change.at.index));
            for (auto& row : cells_) row[column] = in_colour("│", change.turn, look_);
        }
    }

    std::string line(std::size_t row) const {
        std::string label;
        for (const double tick : scale_.ticks())
            if (row_of(tick) == row) label = scale_.label(tick);
        std::string text = fmt::format("{:>{}} {}", label, label_width_, label.empty() ? "│" : "┤");
        std::size_t end = columns_;
        while (end > 0 && cells_[row][end - 1] == " ") --end;
        for (std::size_t column = 0; column < end; ++column) text += cells_[row][column];
        return text + '\n';
    }

    /// Below it the numbers of the changes, and the first and the last day.
    std::string axis() const {
        std::string text(label_width_ + 1, ' ');
        text += "└";
        const std::size_t drawn = column_of(trend_.points.size() - 1) + 1;
        for (std::size_t column = 0; column < drawn; ++column) text += "─";
        text += '\n';
        const std::string indent(label_width_ + 2, ' ');
        std::string numbers;
        for (std::size_t i = 0; i < trend_.changes.size(); ++i) {
            const std::size_t column =
                column_of(static_cast<std::size_t>(trend_.changes[i].at.index));
            if (column < numbers.size()) continue;  // too near to the one before
            numbers.resize(column, ' ');
            numbers += std::to_string(i + 1);
        }
        if (!numbers.empty()) text += indent + numbers + '\n';
        std::string days = trend_.points.front().started.substr(0, 10);
        const std::string last = trend_.points.back().started.substr(0, 10);
        if (last != days) {
            days.resize(std::max(days.size() + 2, drawn < last.size() ? 0 : drawn - last.size()),
                        ' ');
            days += last;
        }
        return text + indent + days + '\n';
    }

    const Trend& trend_;
    const TrendLook& look_;
    AxisScale scale_;
    std::size_t label_width_, columns_;
    std::vector<std::vector<std::string>> cells_;
};

std::string value_with_unit(double value, const std::string& unit) {
    return unit.empty() ? number(value) : number(value) + ' ' + unit;
}

std::string change_lines(const Trend& trend, std::size_t nth, const TrendLook& look) {
    const TrendChange& change = trend.changes[nth - 1];
    const auto& after = trend.points[static_cast<std::size_t>(change.at.index)];
    std::string what = change_text(change.at);
    if (change.turn != Turn::neither) what += fmt::format(" {}", to_string(change.turn));
    std::string text = fmt::format("{}  {}  {}  {} → {}  p {:.1g}  from session {}\n", nth,
                                   after.started.substr(0, 16).replace(10, 1, " "),
                                   in_colour(what, change.turn, look), number(change.at.before),
                                   value_with_unit(change.at.after, trend.unit), change.at.p,
                                   after.session.substr(0, 8));
    for (const auto& suspect : change.suspects)
        text += fmt::format("     {} {} → {}\n", suspect.name, suspect.before, suspect.after);
    if (change.suspects.empty()) text += "     nothing recorded differs between the two sessions\n";
    return text;
}

}  // namespace

std::string draw_trend(const Trend& trend, const statistics::HistoryOptions& rule,
                       const TrendLook& look) {
    const auto& newest = trend.points.back();
    std::string text = trend.title() + '\n' + trend.context() + "\n\n" + trend.quantity() + '\n' +
                       TrendChart(trend, look).draw() + '\n';
    for (std::size_t i = 1; i <= trend.changes.size(); ++i) text += change_lines(trend, i, look);
    if (trend.changes.empty())
        text += fmt::format("no change point in {} session{}\n", trend.points.size(),
                            trend.points.size() == 1 ? "" : "s");
    for (const std::string& sentence : trend.left_out) text += printable(sentence) + '\n';
    return text + fmt::format("newest: {} in session {}; {}\n",
                              value_with_unit(newest.median, trend.unit),
                              newest.session.substr(0, 8), newest_text(trend, rule));
}

}  // namespace assay::report
