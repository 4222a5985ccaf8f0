// Renders stored results: terminal table, CSV, JSON, and one self-contained HTML file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/store/store.hpp"

namespace assay::report {

/// A plain table for the terminal; the first row is the header. Right-aligns numbers.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

/// "0.614", "1.2e+06": short and round-trippable enough for people.
std::string number(double value);

/// One row per metric value: session,experiment,variant,case…,profile,provenance,seed,status,metric,labels,unit,value.
std::string csv(const Registry&, std::span<const store::Sample>);

/// The "samples" array of `assay run --json`.
nlohmann::json samples_json(std::span<const store::Sample>);

/// Verdict, claim, paper's value, ours, provenance, reason; for the terminal.
std::string claims_table(const Registry&, std::span<const ClaimCheck>);

struct HtmlInput {
    const Registry* registry;
    std::vector<const Experiment*> experiments;
    const store::Store* store;
};
/// One self-contained HTML file: per experiment a table and an SVG figure, claim verdicts, machine.
std::string html(const HtmlInput&);

/// The SVG figure of one experiment. Paper values as hollow marks, ours solid, one colour per variant.
std::string svg_figure(const Experiment&, std::span<const store::Sample>, std::span<const Claim>);

}  // namespace assay::report
