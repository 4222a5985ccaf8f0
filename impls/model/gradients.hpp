// Gradients of single rows of the user's data under a model, as a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/text/scored_rows.hpp"
#include "impls/tensors/part.hpp"

namespace assay::model {

struct GradientRequest {
    const nn::TensorFile& file;
    std::vector<nn::ScoredRow> general, target;  ///< at least one of each
    std::vector<std::string> sources;            ///< of the general rows
    std::filesystem::path output;
    std::vector<int> layers;  ///< whose maps; empty: all
    bool bf16 = false;        ///< matrix products; else fp32
    int threads = 0;          ///< 0: all allowed cores
    std::function<void(std::int64_t rows)> progress;
};

/// safetensors, for each linear map of the layers ("layer3/up"), embeddings and head left out:
/// layer3/up/gradients [n, O·I] and layer3/up/target [m, O·I], the gradients of rows' mean losses
/// over their scored tokens; metadata "tokens" and "sources" are lists of the general rows' scored
/// tokens and sources, as JSON. Throws UserError when the file cannot be written.
inline const tensors::Part<void(const GradientRequest&)> write_row_gradients{"model/gradients"};

}  // namespace assay::model
