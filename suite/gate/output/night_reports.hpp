// A night in all the forms in which it leaves: for the terminal, CI systems, people, programs.
#pragma once

#include <limits>
#include <string>

#include "suite/gate/night.hpp"

namespace assay::gate {

/// Tables keep to so many columns of the terminal; sentences are whole.
std::string terminal_text(const Night&,
                          std::size_t columns = std::numeric_limits<std::size_t>::max());
std::string junit_xml(const Night&);
std::string markdown_summary(const Night&);
std::string github_annotations(const Night&);  ///< ::error / ::warning / ::notice lines
std::string html_page(const Night&);
std::string json_text(const Night&);

}  // namespace assay::gate
