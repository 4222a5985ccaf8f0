// Values of blocks under a name: what one sample has trained and the next one starts from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "impls/nn/parameter_block.hpp"
#include "impls/nn/training/training_loop.hpp"

namespace assay::nn {

void save_values(StateKeeper& states, const std::string& name,
                 const std::vector<std::unique_ptr<ParameterBlock>>& blocks);
/// false, with nothing changed: nothing is kept under that name. Throws UserError where what is
/// kept is not of blocks of this size. Blocks lie on the CPU.
bool load_values(StateKeeper& states, const std::string& name,
                 const std::vector<std::unique_ptr<ParameterBlock>>& blocks);

}  // namespace assay::nn
