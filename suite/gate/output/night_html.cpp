// One self-contained page of a night, in the style of the reports.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suite/gate/night_verdict.hpp"
#include "suite/gate/output/night_reports.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/report/markup.hpp"

namespace assay::gate {
namespace {

using report::escaped;

constexpr double width = 180, height = 16, middle = height / 2;
/// Far outliers lie at the edge instead of pressing all others into the middle.
const double most_reach = std::log(1.5);

struct LogInterval {
    double low, centre, high;
};

/// Of the slowdown; without an interval the ratio alone.
LogInterval log_interval(const compare::Row& row) {
    const double sign = row.better == Direction::higher ? -1 : 1;
    const double centre = sign * std::log(row.ratio);
    if (!(row.low > 0) || !(row.high > 0)) return {centre, centre, centre};
    const double a = sign * std::log(row.low), b = sign * std::log(row.high);
    return {std::min(a, b), centre, std::max(a, b)};
}

std::string_view colour(const compare::Row& row) {
    if (row.verdict == compare::RowVerdict::slower) return "s-bad";
    return row.verdict == compare::RowVerdict::faster ? "s-good" : "s-none";
}

/// A row's interval as a small picture: left faster, right slower, the margin shaded. All strips of
/// a page have one scale, so that they can be compared by eye.
class Strips {
  public:
    explicit Strips(const Night&);
    /// Inline SVG; empty for a row without a slowdown.
    std::string svg(const compare::Row&) const;
    /// "faster by 12 % … slower by 12 %": what the edges mean.
    std::string legend() const;

  private:
    double reach_ = 0;  ///< log of the slowdown at the right edge
};

Strips::Strips(const Night& night) {
    double widest = 2 * std::log1p(night.margin);
    for (const NightRow& row : night.rows) {
        if (!slowdown(row.against_baseline)) continue;
        const LogInterval interval = log_interval(row.against_baseline);
        for (const double edge :
             {interval.low, interval.high, std::log1p(row.against_baseline.margin)})
            if (std::isfinite(edge)) widest = std::max(widest, 1.1 * std::abs(edge));
    }
    reach_ = std::min(widest, most_reach);
}

std::string Strips::svg(const compare::Row& row) const {
    if (!slowdown(row)) return "";
    const auto x = [&](double log_ratio) {
        return width / 2 * (1 + std::clamp(log_ratio / reach_, -1.0, 1.0));
    };
    const LogInterval at = log_interval(row);
    const double margin = std::log1p(row.margin);
    return fmt::format(
        "<svg class=\"strip\" viewBox=\"0 0 {w:g} {h:g}\" width=\"{w:g}\" height=\"{h:g}\" "
        "role=\"img\" aria-label=\"interval\"><rect class=\"s-margin\" x=\"{ml:.1f}\" y=\"0\" "
        "width=\"{mw:.1f}\" height=\"{h:g}\"/><line class=\"s-one\" x1=\"{one:.1f}\" y1=\"0\" "
        "x2=\"{one:.1f}\" y2=\"{h:g}\"/><line class=\"{c}\" x1=\"{lo:.1f}\" y1=\"{m:g}\" "
        "x2=\"{hi:.1f}\" y2=\"{m:g}\"/><circle class=\"{c}\" cx=\"{at:.1f}\" cy=\"{m:g}\" "
        "r=\"3.5\"/></svg>",
        fmt::arg("w", width), fmt::arg("h", height), fmt::arg("m", middle),
        fmt::arg("ml", x(-margin)), fmt::arg("mw", x(margin) - x(-margin)),
        fmt::arg("one", width / 2), fmt::arg("c", colour(row)), fmt::arg("lo", x(at.low)),
        fmt::arg("hi", x(at.high)), fmt::arg("at", x(at.centre)));
}

std::string Strips::legend() const {
    const double percent = std::expm1(reach_) * 100;
    return fmt::format(
        "Strips reach from {0:.0f} % faster (left) to {0:.0f} % slower (right); "
        "shaded: the row's margin.",
        percent);
}

constexpr std::string_view night_style = R"(<style>
body{max-width:1060px}
.v-clean,.v-fixed{color:var(--good);background:var(--good-bg)}.v-regression,.v-error{color:var(--bad);background:var(--bad-bg)}
.v-ambiguous,.v-no-baseline,.v-candidate{color:var(--open);background:var(--open-bg)}
.big{font-size:1.1rem;padding:3px 14px}
td.row{min-width:220px;overflow-wrap:anywhere}td.change{white-space:nowrap;font-weight:600}
.worse{color:var(--bad)}.better{color:var(--good)}
.strip{display:block}.s-margin{fill:var(--none-bg)}.s-one{stroke:var(--muted);stroke-dasharray:2 2}
line.s-bad,line.s-good,line.s-none{stroke-width:2}
.s-bad{stroke:var(--bad);fill:var(--bad)}.s-good{stroke:var(--good);fill:var(--good)}.s-none{stroke:var(--muted);fill:var(--muted)}
td ul{margin:.2rem 0;padding-left:1.1rem}td details{margin:0}td details li{color:var(--muted);font-size:.95em}
</style>
)";

std::string badge(std::string_view word, bool big = false) {
    return fmt::format("<span class=\"verdict v-{0}{1}\">{0}</span>", word, big ? " big" : "");
}

/// Colour means direction, and only where the row was judged to have one.
std::string_view direction_class(const compare::Row& row) {
    if (row.verdict == compare::RowVerdict::slower) return " worse";
    return row.verdict == compare::RowVerdict::faster ? " better" : "";
}

std::string evidence_cell(const NightRow& row) {
    std::string out =
        fmt::format("<details><summary>{}</summary><ul>",
                    escaped(why_words(row).empty() ? row.against_baseline.reason : why_words(row)));
    for (const std::string& sentence : evidence(row)) out += "<li>" + escaped(sentence) + "</li>";
    return out + "</ul></details>";
}

/// What all tables of a page share.
struct Look {
    Strips strips;
    report::RowNames names;
};

std::string table_row(const NightRow& row, const Look& look) {
    const compare::Row& against = row.against_baseline;
    const report::RowName called = look.names.of(against.id);
    std::string name = escaped(called.series_text());
    if (!called.metric.empty())
        name += " <span class=\"muted\">" + escaped(called.metric) + "</span>";
    return fmt::format(
        "<tr><td class=\"row\">{}</td><td class=\"change{}\">{}</td><td>{}</td><td "
        "class=\"num\">{}</td><td class=\"num\">{}</td><td>{}</td></tr>\n",
        name, direction_class(against), escaped(change_words(against)), look.strips.svg(against),
        escaped(ratio_words(against)), row.rerun ? escaped(change_words(*row.rerun)) : "–",
        evidence_cell(row));
}

std::string table(const std::vector<const NightRow*>& rows, const Look& look) {
    std::string out =
        "<div class=\"wide\"><table><thead><tr><th>row</th><th>change</th><th>faster | "
        "slower</th><th class=\"num\">ratio [95 %]</th><th class=\"num\">reruns</th>"
        "<th>why</th></tr></thead>\n<tbody>\n";
    for (const NightRow* row : rows) out += table_row(*row, look);
    return out + "</tbody></table></div>\n";
}

bool open_at_first(Heading heading) {
    return heading == Heading::regression || heading == Heading::candidate ||
           heading == Heading::fixed || heading == Heading::faster ||
           heading == Heading::taken_back;
}

std::string section(Heading which, const std::vector<const NightRow*>& rows, const Look& look) {
    if (rows.empty()) return "";
    const std::string body = table(rows, look);
    return fmt::format(
        "<section>\n<h2>{} <span class=\"muted\">({})</span></h2>\n{}</section>\n",
        escaped(title(which)), rows.size(),
        open_at_first(which) ? body : "<details><summary>Show</summary>\n" + body + "</details>\n");
}

std::string sentences(std::string_view heading, const std::vector<std::string>& all) {
    if (all.empty()) return "";
    std::string out = fmt::format("<section>\n<h2>{}</h2>\n", heading);
    for (const std::string& sentence : all)
        out += "<div class=\"note\">" + escaped(sentence) + "</div>\n";
    return out + "</section>\n";
}

std::string head(const Night& night, const Strips& strips) {
    std::string out =
        fmt::format("<header>\n<h1>Night of {}</h1>\n<p>{} {}</p>\n<dl>", escaped(night.suite),
                    badge(to_string(night.verdict), true), escaped(verdict_words(night)));
    for (const auto& [name, value] : facts(night))
        out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
    return out + "</dl>\n<p class=\"muted\">" + strips.legend() + "</p>\n</header>\n";
}

}  // namespace

std::string html_page(const Night& night) {
    const Look look{Strips(night), names_of(night)};
    std::string out = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
        "<title>{}: {}</title>\n",
        escaped(night.suite), to_string(night.verdict));
    out += report::page_style_sheet();
    out += night_style;
    out += "</head>\n<body>\n" + head(night, look.strips) +
           sentences("Below their level", night.below_level) +
           sentences("Could not be run", night.failures);
    const auto groups = by_heading(night);
    for (int i = 0; i < heading_count; ++i)
        out += section(static_cast<Heading>(i), groups[static_cast<std::size_t>(i)], look);
    out += sentences("Warnings", night.warnings);
    return out +
           "<footer class=\"muted\"><p>Ratio: tonight over the baseline, with its 95 % interval. A "
           "row is a candidate when its ratio is beyond the margin and beyond what is "
           "usual in its history (unless the accepted program can be rerun), and the reruns agree; "
           "two nights confirm it.</p></footer>\n"
           "</body>\n</html>\n";
}

}  // namespace assay::gate
