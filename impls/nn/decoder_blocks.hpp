// The parameter blocks of a decoder.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"
#include "impls/nn/parameter_block.hpp"

namespace assay::nn {

/// "shared" (everything outside the layers), then "layer0" …; fp32. Without a seed the matrices are
/// zero, to be filled from a file.
std::vector<std::unique_ptr<ParameterBlock>> decoder_blocks(const DecoderConfig& config,
                                                            std::optional<std::uint64_t> seed,
                                                            at::Device device);

}  // namespace assay::nn
