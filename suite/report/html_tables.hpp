// Tables of the HTML report.
#pragma once

#include <string>

#include "suite/report/report_data.hpp"

namespace assay::report {

/// A grid as a table; columns of numbers are right-aligned. Long ones fold away.
std::string html_grid(const Grid&);

std::string html_verdict(Verdict);  ///< a coloured label; the word itself says it too
std::string html_claims(const std::vector<ReportedClaim>&);
std::string html_unsuccessful(const std::vector<store::Sample>&);
std::string html_sessions(const std::vector<store::Session>&);
std::string html_machine(const store::Machine&);

}  // namespace assay::report
