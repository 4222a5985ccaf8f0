// Steps that follow each other with nothing to decide between them, made in one go by back ends
// that can: a model of time jumps over them, a GPU need not ask its host.
#pragma once

#include <span>

#include "impls/decode/back_end.hpp"

namespace assay::decode {

class RunsAhead {
  public:
    virtual ~RunsAhead() = default;

    /// Up to `steps` steps. Each slice has one id and picks; what it picks is its id in the next,
    /// one position on, and there are blocks for all of them. Ends after a step in which some slice
    /// picks one of its `stops`. Returns how many were made.
    /// ids, log_probabilities, sampled (log-probabilities, Outcome): [steps][slices]. seconds:
    /// [steps].
    virtual int run_ahead(std::span<const Slice> slices, int steps,
                          std::span<const std::span<const int>> stops, std::span<int> ids,
                          std::span<float> log_probabilities, std::span<float> sampled,
                          std::span<double> seconds) = 0;
};

}  // namespace assay::decode
