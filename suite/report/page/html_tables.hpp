// Tables of the HTML report.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "suite/report/page/html_page.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::report {

/// A grid as a table; columns of numbers are right-aligned. Long ones fold away.
std::string html_grid(const Grid&);

/// A row for each: what the paper says (a link to its experiment where that is `on_page`), the
/// paper's number, ours with interval and provenance, the verdict, why.
std::string html_headlines(const std::vector<Headline>&, const std::set<std::string>& on_page);

std::string html_verdict(ClaimVerdict);  ///< a coloured label; the word itself says it too
/// What results say, then what was not checked and why, then what the paper chose.
std::string html_claims(const ReportedExperiment&);
std::string html_unsuccessful(const std::vector<store::Sample>&);
std::string html_sessions(const std::vector<store::Session>&);  ///< a table
std::string html_machine(const store::Machine&);

}  // namespace assay::report
