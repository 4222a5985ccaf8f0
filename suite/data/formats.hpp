// Tells whether a file has the format its catalogue entry promises, with the line that has not.
#pragma once

#include <istream>

#include "suite/data/catalog.hpp"

namespace assay::data {

/// Reads the stream to its end (GGUF: only the header). Throws DataError "line N: …".
void validate(std::istream& in, Format format);

}  // namespace assay::data
