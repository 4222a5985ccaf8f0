// What a figure of lines or bars shows, as text: panels beside each other.
#include <algorithm>

#include "suite/report/text/result_tables.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::report {
namespace {

constexpr std::size_t between_panels = 3;  ///< blanks
constexpr std::size_t narrowest_title = 16;

std::string x_text(const FigureData& data, double x) {
    return data.categories.empty() ? number(x) : data.categories[static_cast<std::size_t>(x)];
}

/// Where the panel has a value of ours, ascending.
std::vector<double> xs_of(const FigurePanel& panel) {
    std::vector<double> xs;
    for (const FigureCurve& curve : panel.curves)
        for (const FigurePoint& point : curve.points) xs.push_back(point.x);
    std::sort(xs.begin(), xs.end());
    xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
    return xs;
}

/// Those that have a value of ours somewhere, in their order.
std::vector<std::string> variants_of(const FigureData& data) {
    std::vector<std::string> variants = data.variants;
    std::erase_if(variants, [&](const std::string& variant) {
        return std::none_of(data.panels.begin(), data.panels.end(), [&](const FigurePanel& panel) {
            return std::any_of(panel.curves.begin(), panel.curves.end(), [&](const auto& curve) {
                return curve.variant == variant && !curve.points.empty();
            });
        });
    });
    return variants;
}

/// Of the variant at x; at its first point without one.
std::string panel_cell(const FigurePanel& panel, const std::string& variant, const double* x) {
    for (const FigureCurve& curve : panel.curves)
        for (const FigurePoint& point : curve.points)
            if (curve.variant == variant && (x == nullptr || point.x == *x))
                return number(point.median, point.low, point.high);
    return "–";
}

/// Several lines that stand beside others.
struct Block {
    std::vector<std::string> title, table;
    std::size_t width = 0;
};

std::vector<std::string> text_lines(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

Block block_of(const Experiment& experiment, const FigureData& data, const FigurePanel& panel,
               const std::vector<std::string>& variants, bool with_x) {
    Grid grid(1);
    if (with_x) grid[0].push_back(experiment.figure.x);
    grid[0].insert(grid[0].end(), variants.begin(), variants.end());
    for (const double x : xs_of(panel)) {
        grid.emplace_back();
        if (with_x) grid.back().push_back(x_text(data, x));
        for (const std::string& variant : variants)
            grid.back().push_back(panel_cell(panel, variant, &x));
    }
    Block block;
    block.table = text_lines(text_table(grid));
    for (const std::string& line : block.table)
        block.width = std::max(block.width, display_width(line));
    if (!panel.title.empty())
        block.title = wrapped(panel.title, std::max(block.width, narrowest_title));
    for (const std::string& line : block.title)
        block.width = std::max(block.width, display_width(line));
    return block;
}

using Band = std::vector<Block>;  ///< beside each other

/// Panels beside each other where they fit; one that has the x values of the first in its band does
/// not repeat them.
std::vector<Band> bands_of(const Experiment& experiment, const FigureData& data,
                           std::size_t width) {
    const std::vector<std::string> variants = variants_of(data);
    std::vector<Band> bands;
    std::size_t used = 0;
    const FigurePanel* first = nullptr;
    for (const FigurePanel& panel : data.panels) {
        if (!bands.empty()) {
            Block block =
                block_of(experiment, data, panel, variants, xs_of(panel) != xs_of(*first));
            if (used + between_panels + block.width <= width) {
                used += between_panels + block.width;
                bands.back().push_back(std::move(block));
                continue;
            }
        }
        first = &panel;
        bands.push_back({block_of(experiment, data, panel, variants, true)});
        used = bands.back().front().width;
    }
    return bands;
}

std::string text_of(const Band& band) {
    std::size_t titles = 0, height = 0;
    for (const Block& block : band) {
        titles = std::max(titles, block.title.size());
        height = std::max(height, block.table.size());
    }
    std::string out;
    for (std::size_t row = 0; row < titles + height; ++row) {
        std::string line;
        std::size_t left = 0;  // where the block begins
        for (const Block& block : band) {
            line.append(left - std::min(left, display_width(line)), ' ');
            // Titles end directly above the tables.
            const std::size_t skipped = titles - block.title.size();
            if (row < titles && row >= skipped) line += block.title[row - skipped];
            if (row >= titles && row - titles < block.table.size())
                line += block.table[row - titles];
            left += block.width + between_panels;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    }
    return out;
}

std::size_t height_of(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// A row per panel.
FigureTables one_table(const Experiment& experiment, const FigureData& data, std::size_t width,
                       std::size_t most_lines) {
    const std::vector<std::string> variants = variants_of(data);
    const auto any = [&](auto&& has) {
        return std::any_of(data.panels.begin(), data.panels.end(), has);
    };
    const bool titled = any([](const FigurePanel& panel) { return !panel.title.empty(); });
    const bool with_x = !data.shares_variants;
    Grid grid(1);
    if (titled) grid[0].emplace_back("panel");
    if (with_x) grid[0].push_back(experiment.figure.x);
    const std::size_t keys = grid[0].size();
    grid[0].insert(grid[0].end(), variants.begin(), variants.end());
    constexpr std::size_t head = 2;  // lines above the first row
    const std::size_t most = most_lines > head ? most_lines - head : 1;
    const std::size_t shown = std::min(data.panels.size(), most);
    for (const FigurePanel& panel : std::span(data.panels).first(shown)) {
        grid.emplace_back();
        if (titled) grid.back().push_back(panel.title);
        const std::vector<double> xs = xs_of(panel);
        if (with_x) grid.back().push_back(xs.empty() ? "–" : x_text(data, xs.front()));
        for (const std::string& variant : variants)
            grid.back().push_back(panel_cell(panel, variant, nullptr));
    }
    return {text_tables(grid, keys, width), data.panels.size() - shown};
}

}  // namespace

FigureTables figure_tables(const Experiment& experiment, const FigureData& data, std::size_t width,
                           std::size_t most_lines) {
    const bool one_x = std::all_of(data.panels.begin(), data.panels.end(),
                                   [](const auto& panel) { return xs_of(panel).size() <= 1; });
    if (data.shares_variants || one_x) return one_table(experiment, data, width, most_lines);
    FigureTables tables{"", data.panels.size()};
    for (const Band& band : bands_of(experiment, data, width)) {
        const std::string text = text_of(band);
        if (!tables.text.empty()) {
            if (height_of(tables.text) + 1 + height_of(text) > most_lines) break;
            tables.text += '\n';
        }
        tables.text += text;
        tables.left_out -= band.size();
    }
    return tables;
}

}  // namespace assay::report
