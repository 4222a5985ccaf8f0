// Text whose lines open with a verse reference ("Ge1:1 In the beginning …").
#pragma once

#include <string>
#include <string_view>

namespace assay::data {

/// Every line without its reference. Throws DataError "line N: …" for a line that has none.
std::string without_references(std::string_view verses);

}  // namespace assay::data
