// Answers that point away from the target are left out of an update: by one vote, or map by map
// (specification, sections 1.4 "filtering", 3.2 and 3.3).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "impls/dr_post_training/method/selecting_maps.hpp"

namespace assay::dr_post_training {

/// Shares of answers in the mean over all their tokens. answered: bool [rows, length].
std::vector<double> token_shares(const at::Tensor& answered);

/// Tokens of both, int64 [rows, any length], as rows of one length, padded behind.
at::Tensor together(const at::Tensor& rows, const at::Tensor& more);

/// Keeps the rows whose score is not negative: rows of score 0 are kept, as by the authors. What is
/// kept counts as the mean over its tokens. A group that keeps none has no gradient; its Adam goes
/// on by what it remembers.
class AnswerFilter {
  public:
    explicit AnswerFilter(bool by_layer);
    AnswerFilter(const AnswerFilter&) = delete;  // the maps call back
    AnswerFilter& operator=(const AnswerFilter&) = delete;

    /// The maps for one forward pass, over the general rows with these answers and then `targets`
    /// rows of the target; the loss that is sent backwards is the mean over the general rows'
    /// tokens and a loss of the target.
    SelectingMaps& maps(const at::Tensor& answered, std::int64_t targets);
    /// After the backward pass: notes what groups kept.
    void note();

    /// Mean share of the rows that groups kept since the last call; 1 where nothing was noted.
    double kept();

  private:
    std::vector<double> shares_;
    SelectingMaps maps_;
    double kept_ = 0, groups_ = 0;
};

/// Which of the rows the filter would keep, all maps by one vote, without an update: ascending. In
/// between come the forward pass through `maps` and `backward`.
std::vector<std::int64_t> kept_by_one_vote(
    const at::Tensor& answered, std::int64_t targets,
    const std::function<void(SelectingMaps& maps)>& forward_and_backward);

}  // namespace assay::dr_post_training
