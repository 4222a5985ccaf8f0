// Models by the names that a user gives on a command line: a file, a data set of `assay data`, or
// the shape of a published model, for arithmetic without its weights.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"
#include "suite/data/catalog.hpp"

namespace assay::model {

/// A path that exists, or the fetched file of a data set of this kind (also for texts). Throws
/// UserError: no such file, a data set of another kind, one that has not been fetched (says how
/// to).
std::filesystem::path locate_file(const std::string& name, data::Kind kind);

/// Throws UserError, with the nearest name, for one that is not listed.
nn::DecoderConfig named_shape(std::string_view name);

/// "gpt2-medium", "llama-7b", …
std::vector<std::string> shape_names();

}  // namespace assay::model
