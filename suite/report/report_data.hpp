// Everything the HTML report shows, gathered before anything is written. Plain values, so that a
// page can be made, and tested, without a database.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "suite/report/claims_summary.hpp"
#include "suite/report/report.hpp"

namespace assay::report {

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
};

struct ReportData {
    std::string generated;                 ///< ISO 8601
    std::string database;                  ///< file name
    std::vector<store::Session> sessions;  ///< those the samples come from, newest first
    std::vector<store::Machine> machines;
    std::string headline;                         ///< of all claims: claims_summary.hpp
    std::vector<ReportedExperiment> experiments;  ///< those with samples
    std::vector<std::string> without_samples;     ///< ids of the others that were asked for
};

/// Reads the store.
ReportData gather(const HtmlInput&);

/// Pure: the page.
std::string html_page(const ReportData&);

}  // namespace assay::report
