// Gradients of single rows, for whoever asks what each row would teach.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/nn/text/scored_rows.hpp"

namespace assay::nn {

/// The linear maps of a decoder's layers, without embeddings and head, in the order of the model:
/// "layer0/query" …, each [O, I].
std::vector<NamedShape> linear_maps(const DecoderConfig&);

/// The gradient of the row's mean loss over its scored tokens with respect to each of
/// linear_maps(), given to `take` with its number, in that order: fp32 [O, I], on the CPU, valid
/// during the call. The gradients of the decoder's blocks are set to zero before and are the row's
/// afterwards.
void row_gradients(const Decoder&, Maps&, const ScoredRow& row, at::ScalarType compute,
                   const std::function<void(std::size_t map, const at::Tensor& gradient)>& take);

}  // namespace assay::nn
