// The tokens of the toy decode step without a device, a cache or a batch: an oracle. It shares the
// weights with the kernels, and nothing else.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "impls/foundry/toy/decode_settings.hpp"

namespace assay::foundry::toy {

class ReferenceSequence {
  public:
    explicit ReferenceSequence(DecodeSettings settings);

    /// The token sampled once `token` is at the sequence's next position.
    int next(int token, const RandomState& random);

  private:
    struct Position {
        std::uint64_t key, value;
    };
    DecodeSettings settings_;
    std::vector<std::vector<Position>> layers_;
};

}  // namespace assay::foundry::toy
