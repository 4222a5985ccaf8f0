// Renders stored results: terminal table, CSV, JSON, SVG, and one self-contained HTML file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/store/store.hpp"

namespace assay::report {

/// Rows of cells; the first row is the header.
using Grid = std::vector<std::vector<std::string>>;

/// A plain table for the terminal. Right-aligns columns whose cells are all numbers; widths count
/// what a terminal shows, not bytes. A cell may hold several lines; what else does not print in it
/// is written out (printable()).
std::string text_table(const Grid& rows);
/// The same in at most `width` columns of the terminal: cells of words are broken at blanks, and
/// where that is not enough each row becomes a block of lines, "column  cell".
std::string text_table(const Grid& rows, std::size_t width);
/// A table in at most `width` columns of the terminal where that can be: what does not fit follows
/// in further tables, each with the first `keys` columns again.
std::string text_tables(const Grid& rows, std::size_t keys, std::size_t width);
std::vector<Grid> narrow_tables(const Grid& rows, std::size_t keys, std::size_t width);

/// "0.614", "1.2e+06", "12345": short, and precise enough for people (four significant digits,
/// whole numbers below a million in full).
std::string number(double value);
/// "2", or "2 (1–3)" where the values whose median it is differ.
std::string number(double median, double low, double high);

/// One row per metric value:
/// session,experiment,variant,case…,profile,provenance,scenario,seed,status,metric,
/// labels,unit,value,sample. `scenario` is the fault plan's text, empty without faults. A sample
/// without metrics still has one row, so that its status shows. RFC 4180 quoting; values
/// round-trip. `case…`: one column per axis, in name order. `units`: of metrics that the registry
/// does not know.
std::string csv(const Registry&, std::span<const store::Sample>,
                std::span<const store::MetricUnit> units = {});

/// The "samples" array of `assay run --json`. Values that are not finite become null.
nlohmann::json samples_json(std::span<const store::Sample>);

/// For the terminal: a row for each claim that results speak for or against (verdict, paper's
/// value, ours, provenance, claim; below it what the paper says, where, and the reason), then the
/// others as counts, one per reason. Settings are left out.
std::string claims_table(const Registry&, std::span<const ClaimCheck>, std::size_t columns = 98);
/// A row for each of them, checked or not.
std::string claims_rows(const Registry&, std::span<const ClaimCheck>, std::size_t columns = 98);
/// What the paper chose; empty without settings.
std::string settings_table(const Registry&, std::span<const ClaimCheck>);

/// Results as cells: a row per case and variant, a column per metric; the values of the figure's
/// metric get one column per x when x is a label. Medians over samples; "median (min–max)" when
/// they differ. Axes with a single value are left out; several machines, and calibrations or data
/// that are not comparable, have rows of their own.
Grid result_table(const Experiment&, std::span<const store::Sample>);

struct HtmlInput {
    const Registry* registry;
    std::vector<const Experiment*> experiments;
    const store::Store* store;
    std::vector<const Claim*> claims;  ///< counted in its first line; may be of other experiments
};
/// One self-contained HTML file: per experiment a table and an SVG figure, claim verdicts, machine.
/// Experiments without samples are named in one line.
std::string html(const HtmlInput&);

/// Those of them that have samples, ok or not.
std::vector<const Experiment*> with_samples(const HtmlInput&);

/// The SVG figure of one experiment, 800 px wide. Paper values as hollow marks, ours solid, one
/// colour per variant. Timelines need whole samples (Store::sample), the others metrics only.
std::string svg_figure(const Experiment&, std::span<const store::Sample>, std::span<const Claim>);

/// The same of its newest stored samples. UserError where there are none.
std::string stored_figure(const Registry&, const store::Store&, const Experiment&);

}  // namespace assay::report
