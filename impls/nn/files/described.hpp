// A decoder's shape described (suite/base/describe.hpp), as part of what trainings are named by.
#pragma once

#include "impls/nn/files/decoder_config.hpp"
#include "suite/base/describe.hpp"

namespace assay::nn {
ASSAY_FIELDS(DecoderConfig, family, activation, layers, width, hidden, heads, kv_heads, head_width,
             vocabulary, context, rope_base, norm_epsilon, tied_embeddings, query_key_norms,
             query_key_value_biases, name)
}  // namespace assay::nn
