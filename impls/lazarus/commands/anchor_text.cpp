#include "impls/lazarus/commands/anchor_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_page.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::lazarus {
namespace {

using report::Grid;
using report::number;

std::string share(const std::optional<double>& value) {
    return value ? fmt::format("{:.3f}", *value) : "-";
}

std::string implied_text(const ImpliedOverlap& found) {
    if (found.overlap < 0) return "none: faster without any";
    if (found.overlap > 1) return "none: slower with all";
    return fmt::format("{:.2f}", found.overlap);
}

nlohmann::json json_of(const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
}

bool any_meets_both(const AnchorFindings& findings) {
    for (const MeetingShares& row : findings.curve)
        if (row.both) return true;
    return false;
}

Grid implied_grid(const AnchorFindings& findings) {
    Grid grid{{"anchor", "the paper", "overlap 0", "overlap 1", "overlap that meets it"}};
    const auto rate = [](double value) { return fmt::format("{:.1f}", value); };
    for (const ImpliedOverlap& one : findings.implied)
        grid.push_back({one.anchor.claim, rate(one.anchor.rate), rate(one.rate_without),
                        rate(one.rate_with_all), implied_text(one)});
    const ImpliedOverlap &first = findings.implied.front(), &last = findings.implied.back();
    const auto ratio = [](double a, double b) { return fmt::format("{:.2f}", a / b); };
    grid.push_back({"ratio", ratio(first.anchor.rate, last.anchor.rate),
                    ratio(first.rate_without, last.rate_without),
                    ratio(first.rate_with_all, last.rate_with_all), "-"});
    return grid;
}

Grid curve_grid(const AnchorFindings& findings) {
    Grid grid{{"overlap"}};
    for (const ImpliedOverlap& one : findings.implied) {
        grid[0].push_back(one.anchor.system + ": matmul");
        grid[0].push_back("or link");
    }
    grid[0].insert(grid[0].end(), {"both: matmul", "and link"});
    for (const MeetingShares& row : findings.curve) {
        std::vector<std::string> cells{number(row.overlap)};
        for (std::size_t i = 0; i < row.matmul.size(); ++i) {
            cells.push_back(share(row.matmul[i]));
            cells.push_back(share(row.link[i]));
        }
        cells.push_back(row.both ? share(row.both->matmul) : "-");
        cells.push_back(row.both ? share(row.both->link) : "-");
        grid.push_back(std::move(cells));
    }
    return grid;
}

}  // namespace

AnchorFindings find_implied(const std::vector<AnchoredTraining>& trainings) {
    AnchorFindings findings;
    findings.shipped = trainings.front().shipped();
    for (const AnchoredTraining& training : trainings) {
        const SteadyCost cost = training.cost(findings.shipped);
        findings.implied.push_back({.anchor = training.anchor(),
                                    .rate_without = cost.rate(0),
                                    .rate_with_all = cost.rate(1),
                                    .overlap = cost.overlap_for(training.anchor().rate)});
    }
    for (const double overlap : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        MeetingShares row{.overlap = overlap, .matmul = {}, .link = {}, .both = {}};
        for (const AnchoredTraining& training : trainings) {
            row.matmul.push_back(training.matmul_for(overlap));
            row.link.push_back(training.link_for(overlap));
        }
        row.both = shares_for(trainings.front(), trainings.back(), overlap);
        findings.curve.push_back(std::move(row));
    }
    return findings;
}

std::string to_text(const AnchorFindings& findings, std::size_t columns) {
    report::TextPage page(columns);
    page.sentence(
        "GPT-M on ten nodes that nothing disturbs, sequences per second (closed form; nothing "
        "runs):");
    page.table(implied_grid(findings));
    page.empty_line();
    page.sentence(fmt::format(
        "Shares of their peaks that meet an anchor. The profile has matmul {} and link {}; what a "
        "column does not name is as there; -: none from 0.02 to 1 does:",
        number(findings.shipped.matmul), number(findings.shipped.link)));
    page.table(curve_grid(findings));
    page.sentence(
        "Each anchor is met along a whole curve, a lower share with a larger overlap: one rate "
        "tells neither.");
    page.sentence(
        any_meets_both(findings)
            ? "Where the last two columns have numbers both anchors are met at once: two "
              "rates for three unknowns."
            : "At none of these overlaps does a pair of shares meet both anchors at once: "
              "what sets the two systems apart in the paper is none of these three.");
    return page.text();
}

nlohmann::json to_json(const AnchorFindings& findings) {
    nlohmann::json anchors = nlohmann::json::array(), curve = nlohmann::json::array();
    for (const ImpliedOverlap& one : findings.implied)
        anchors.push_back({{"claim", one.anchor.claim},
                           {"variant", one.anchor.system},
                           {"rate", one.anchor.rate},
                           {"rate_at_overlap_0", one.rate_without},
                           {"rate_at_overlap_1", one.rate_with_all},
                           {"overlap", one.overlap}});
    for (const MeetingShares& row : findings.curve) {
        nlohmann::json shares = nlohmann::json::object();
        for (std::size_t i = 0; i < row.matmul.size(); ++i)
            shares[findings.implied[i].anchor.claim] = {{"matmul", json_of(row.matmul[i])},
                                                        {"link", json_of(row.link[i])}};
        nlohmann::json both;
        if (row.both) both = {{"matmul", row.both->matmul}, {"link", row.both->link}};
        curve.push_back({{"overlap", row.overlap}, {"shares", shares}, {"both", both}});
    }
    return {{"profile", {{"matmul", findings.shipped.matmul}, {"link", findings.shipped.link}}},
            {"anchors", anchors},
            {"curve", curve}};
}

}  // namespace assay::lazarus
