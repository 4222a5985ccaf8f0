// A small strict reader: is this text well-formed XML?
#pragma once

#include <string>
#include <string_view>

namespace assay::report {

/// Empty when the text is one well-formed element, else what is wrong and where. Checks nesting,
/// attributes (quoted, unique), entities, and that ids are unique in the document. Style sheets are
/// text without '<'. A leading <!DOCTYPE …> is skipped.
std::string xml_problem(std::string_view text);

}  // namespace assay::report
