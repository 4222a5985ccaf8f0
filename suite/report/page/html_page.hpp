// The HTML report: everything it shows is gathered as plain values before anything is written, so
// that a page can be made, and tested, without a database.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/report/figures/plot.hpp"
#include "suite/report/text/claims_summary.hpp"
#include "suite/report/text/headlines.hpp"
#include "suite/report/text/unchecked_claims.hpp"

namespace assay::report {

struct HtmlInput {
    const Registry* registry;
    std::vector<const Experiment*> experiments;
    const store::Store* store;
    std::vector<const Claim*> claims;  ///< counted in its first line; may be of other experiments
};

/// One self-contained HTML file: the papers' headline numbers beside ours, what is contradicted,
/// machines and sessions, then per experiment an SVG figure, a table and verdicts, judged by what
/// the store holds now.
std::string html(const HtmlInput&);

/// Those of them that have samples, ok or not.
std::vector<const Experiment*> with_samples(const HtmlInput&);

/// What the figure of an experiment is drawn from: its newest stored samples, whole for timelines.
std::vector<store::Sample> samples_to_draw(const store::Store&, const Experiment&);

/// What of an experiment's samples is drawn; what is empty narrows nothing.
struct Drawn {
    std::vector<std::string> variants = {};
    std::map<std::string, std::vector<Value>> axes = {};
    std::optional<Provenance> provenance = {};

    /// Whether a sample of this variant and case may be among it: axes that it does not name may be
    /// anything.
    bool has(const std::string& variant, const Case& of) const;
};

/// The figure of an experiment from its newest stored samples, and the paper's values for them.
/// UserError where there are none.
Plot stored_plot(const Registry&, const store::Store&, const Experiment&, const Drawn& = {});

struct ReportedClaim {
    const Claim* claim;
    ClaimCheck check;
};

struct ReportedExperiment {
    const Experiment* experiment;
    std::vector<store::Sample> samples;       ///< ok ones; whole ones for timelines
    std::vector<store::Sample> unsuccessful;  ///< of the newest session that has the experiment
    std::vector<ReportedClaim> claims;        ///< that results speak for or against
    std::vector<UncheckedClaims> unchecked;
    std::vector<const Claim*> settings;
    std::vector<EventKind> event_kinds = suite_event_kinds();  ///< for its timelines
};

struct ReportData {
    std::string generated;                 ///< ISO 8601
    std::string database;                  ///< file name
    std::vector<store::Session> sessions;  ///< those the samples come from, newest first
    std::vector<store::Machine> machines;
    std::string headline;                         ///< of all claims: claims_summary.hpp
    std::vector<Headline> headlines;              ///< of the claims that are counted
    std::vector<ReportedExperiment> experiments;  ///< those with samples
    std::vector<Headline> contradicted;           ///< of their claims
    std::vector<std::string> without_samples;     ///< ids of the others that were asked for
};

/// Reads the store.
ReportData gather(const HtmlInput&);

/// Pure: the page.
std::string html_page(const ReportData&);

}  // namespace assay::report
