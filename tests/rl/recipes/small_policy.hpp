// A policy so small that tests train it in moments.
#pragma once

#include <ATen/Parallel.h>

#include "impls/nn/decoder.hpp"

namespace assay::rl {

inline nn::DecoderConfig small_policy() {
    at::set_num_threads(1);  // steps this small are slower on two
    nn::DecoderConfig config;
    config.layers = 2;
    config.width = 32;
    config.hidden = 64;
    config.heads = config.kv_heads = 2;
    config.head_width = 16;
    config.vocabulary = 256;
    config.context = 20;
    return config;
}

}  // namespace assay::rl
