// What a checkpoint of a training holds.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/nn/training/training_loop.hpp"

namespace assay::nn {

struct TrainingState {
    std::int64_t step = 0;             ///< updates done
    std::vector<double> first_losses;  ///< task losses of the first steps
    nlohmann::json extra;              ///< the caller's
};

/// One line of JSON, then the bytes of each block's values and moments.
void write_state(std::ostream& out, const std::string& name,
                 const std::vector<ParameterBlock*>& blocks, const TrainingOptions& options,
                 const TrainingState& state);

/// Fills the blocks. Throws UserError, the blocks untouched, when the state is of other blocks or
/// of a training with other options.
TrainingState read_state(std::istream& in, const std::string& name,
                         const std::vector<ParameterBlock*>& blocks,
                         const TrainingOptions& options);

}  // namespace assay::nn
