// Gradients as a file: JSON or safetensors, told by the content. What is kept of them are inner
// products.
//
// JSON: {"layers":[{"name","block"?,"part"?,
//                   "gradients":[n][d],"target":[m][d] or
//                   "gram":[n][n],"scores":[n][m],"target_gram"?:[m][m]}],
//        "tokens"?:[n],"sources"?:[n]}
// safetensors: NAME/gradients [n][…] and NAME/target [m][…] for every layer, F32, F16 or BF16; what
// follows the first extent is one row. NAME is split at its last "/": block "layer3" and part "ffn"
// of "layer3/up"; part "attention" of query, key, value and attention_out. Layers are in the order
// of their data. "tokens" and "sources" may stand in its metadata, as JSON lists in text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "impls/dr_post_training/policy/statistics.hpp"

namespace assay::dr_post_training {

/// `name`: of the file, for messages. Throws UserError "NAME: …", with the layer where it is one's:
/// what is neither format or cut off, unknown keys and tensors, ragged rows, sizes that do not fit,
/// numbers that are not finite, names given twice, gradients and Gram matrix in one layer, a Gram
/// matrix that is not symmetric or, beyond 1e-6 of its largest entry, not positive semidefinite,
/// scores that no gradients have, rows without tokens.
PlanInput read_gradients(std::string_view name, std::span<const std::byte> bytes);
/// Of a file; "-" reads `standard_input`. Throws UserError also for JSON of more than 1 GB.
PlanInput read_gradients_file(const std::string& file, std::istream& standard_input);

}  // namespace assay::dr_post_training
