// Static pruning of the feed-forward matrices: magnitude, and Wanda (Sun et al., arXiv 2306.11695).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/nn/training/corpus.hpp"

namespace assay::lte {

/// n of m consecutive weights of a row are removed (2:4, 4:8); m = 0: unstructured, `share` of each
/// row (Wanda's comparison group is the output row).
struct PruningPattern {
    int n = 0, m = 0;
    double share = 0.5;  ///< with m: n / m
};
PruningPattern parse_pattern(std::string_view text);  ///< "0.5", "2:4", "4:8"; throws UserError

/// Which weights of a matrix go: in each row the round(share · columns) with the lowest scores, or
/// in each group of m neighbours the n lowest; of equal scores the first goes first. scores:
/// [rows, columns]. Returns bool [rows, columns]. Throws UserError when a row does not divide into
/// groups of m.
at::Tensor weights_to_remove(const at::Tensor& scores, const PruningPattern&);

/// Wanda's score |w| · ‖x‖₂. weight: [rows, columns]; norms: [columns].
at::Tensor wanda_score(const at::Tensor& weight, const at::Tensor& norms);

/// Sets weights of the feed-forward matrices to zero by |w|. In place. Returns the share of them
/// that is zero afterwards, counted.
double prune_by_magnitude(nn::Decoder&, const PruningPattern&);

/// By |w| · ‖x‖₂, the norm of the input feature over `sequences` calibration windows, layer after
/// layer on the already pruned network. In place. Returns the share that is zero afterwards,
/// counted.
double prune_by_wanda(nn::Decoder&, const PruningPattern&, const nn::TokenData&, int sequences);

}  // namespace assay::lte
