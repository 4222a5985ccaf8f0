// The report's style sheet.
#pragma once

#include <string_view>

namespace assay::report {

std::string_view page_style_sheet();

}  // namespace assay::report
