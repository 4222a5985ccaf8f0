// What every algorithm here does between drawing and drawing: goes through rows in batches, and
// takes a step of Adam along whatever gradient it is given.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/nn/training/training_loop.hpp"

namespace assay::rl {

/// Rows 0 … count − 1 in an order that a seed decides, cut into batches of `size` (the last one may
/// be smaller); size 0: one batch of all.
std::vector<std::vector<std::int64_t>> batches(std::int64_t count, std::int64_t size,
                                               std::uint64_t seed);

/// A decoder of the same values, without its moments' history.
nn::Decoder copy_of(const nn::Decoder& decoder);

class Updater {
  public:
    /// The blocks outlive the object; their moments are set to zero. clip: the largest norm of all
    /// gradients together, larger ones are scaled down to it; 0: none. The rate rises over the
    /// first `warmup` updates: Adam's first ones move every parameter by the whole rate, whatever
    /// the noise.
    Updater(std::vector<nn::TrainedBlock> blocks, double clip, const nn::AdamOptions& adam,
            std::int64_t warmup = 0);
    /// Zeroes the gradients, calls `gradients`, which leaves them in the blocks, and updates.
    /// Throws std::runtime_error, with nothing changed, where a gradient is not finite.
    void update(const std::function<void()>& gradients);
    std::int64_t updates() const { return updates_; }

  private:
    std::vector<nn::TrainedBlock> blocks_;
    double clip_;
    nn::AdamOptions adam_;
    std::int64_t warmup_ = 0, updates_ = 0;
};

/// All blocks of a decoder, at the common rate.
std::vector<nn::TrainedBlock> blocks_of(nn::Decoder& decoder);

}  // namespace assay::rl
