// A night in all the forms in which it leaves: for the terminal, CI systems, people, programs.
#pragma once

#include <string>

#include "suite/gate/night.hpp"

namespace assay::gate {

std::string terminal_text(const Night&);
std::string junit_xml(const Night&);
std::string markdown_summary(const Night&);
std::string github_annotations(const Night&);  ///< ::error / ::warning / ::notice lines
std::string html_page(const Night&);
std::string json_text(const Night&);

}  // namespace assay::gate
