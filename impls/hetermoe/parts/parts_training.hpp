// A training whose ranks are threads of one process, each on a part of one GPU: the step is the one
// that processes take (training/group_step), its links copy within the GPU's memory.
#pragma once

#include <c10/core/Stream.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "impls/hetermoe/training/group_step.hpp"
#include "impls/nn/moe/gpt.hpp"
#include "impls/nn/moe/state.hpp"

namespace assay::hetermoe {

/// What a rank computes on.
struct Part {
    nn::Attention attention = nn::Attention::fused;
    std::optional<c10::Stream> stream;  ///< none: the CPU, without streams
};

/// What a rank did in the steps that were timed.
struct RankTimes {
    double busy_s = 0;  ///< of a step, in its tasks; median
    /// Of a task; medians, 0 where it has none. Forward: attention and gate, experts, last stage.
    double attention_s = 0, experts_s = 0, head_s = 0;
};

struct PartsRun {
    std::vector<double> losses;    ///< of each step, mean nats per token
    double step_s = 0;             ///< median over the steps after the first
    std::vector<RankTimes> ranks;  ///< attention ranks first
};

/// Groups of some of the parts, one after the other, which all train the same model on: random
/// bytes, plain gradient descent. Blocks lie in memory that all parts share, so that experts change
/// their rank without moving.
class PartsTraining {
  public:
    /// `device` holds all, and draws the initial values.
    PartsTraining(const nn::MoeGptConfig& model, at::Device device, std::vector<Part> parts,
                  std::uint64_t seed);

    /// `steps`, at least two, of one group. members: the part of each of its ranks, attention ranks
    /// first. A group without expert ranks is expert parallelism: every rank has experts, and
    /// `offload` is positive in each layer. `sequences`: of a step, over all ranks. Throws what a
    /// rank threw.
    PartsRun run(const GroupPlan& plan, std::span<const std::size_t> members, int sequences,
                 int steps);

    /// Sequences first … first + count - 1 of a step: [count, context + 1].
    at::Tensor tokens(std::int64_t step, std::int64_t first, std::int64_t count) const;
    /// As the last step left it.
    const nn::ParameterBlock& block(nn::BlockKey key) const;
    static constexpr double learning_rate = 0.05;

  private:
    void deal(const GroupPlan& plan, std::span<const std::size_t> members);

    std::vector<Part> parts_;
    at::Device device_;
    std::uint64_t seed_;
    std::vector<nn::MoeState> states_;  // by part; each has a dense block of its own
    std::size_t newest_ = 0;            // part whose dense block is up to date
    std::int64_t step_ = 0;
};

}  // namespace assay::hetermoe
