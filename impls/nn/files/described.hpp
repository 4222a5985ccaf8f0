// A decoder's shape described (suite/drive/describe.hpp), as part of what trainings are named by.
#pragma once

#include "impls/nn/files/decoder_config.hpp"
#include "suite/drive/describe.hpp"

namespace assay::nn {
ASSAY_NAMES(Family, llama, gpt2)
ASSAY_NAMES(Activation, swiglu, gelu, relu)
ASSAY_FIELDS(DecoderConfig, family, activation, layers, width, hidden, heads, kv_heads, head_width,
             vocabulary, context, rope_base, norm_epsilon, tied_embeddings, name)
}  // namespace assay::nn
