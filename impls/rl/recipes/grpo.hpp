// Group relative policy optimisation (Shao et al., arXiv 2402.03300) of a decoder in one process:
// rounds of drawing answers, weighing them, updating on them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "impls/nn/decoder.hpp"
#include "impls/rl/method/policy_loss.hpp"
#include "impls/rl/recipes/rollouts.hpp"
#include "impls/rl/recipes/update.hpp"

namespace assay::rl {

struct GrpoOptions {
    int answers = 8;      ///< to each question: the group
    int longest = 16;     ///< tokens of an answer
    int rows_a_step = 0;  ///< answers an update is made from; 0: all of the round
    int epochs = 1;       ///< times that a round's answers are gone through
    double kl = 0;        ///< coefficient of the divergence from where the policy started
    Clipping clipping;
    Averaging averaging = Averaging::tokens;
    double clip = 1.0;  ///< global gradient norm; 0: none
    nn::AdamOptions adam{1e-4, 0.9, 0.95, 1e-8};
    std::int64_t warmup = 0;  ///< updates over which the rate rises
    std::uint64_t seed = 1;   ///< of draws and of the order of rows
};

/// The rows of one update.
struct UpdateRows {
    Rollouts rollouts;
    at::Tensor advantages;  ///< fp32 [rows, 1]
    at::Tensor reference;   ///< fp32 [rows, length], ln p under the reference; undefined: kl is 0
};

/// Loss of every token of these rows, weighted so that their sum is the loss of the update: fp32
/// [rows, length], with the graph of `now`, their log-probabilities under the policy.
at::Tensor weighted_losses(const at::Tensor& now, const UpdateRows&, const GrpoOptions&);

/// Leaves the gradients of an update in the policy's blocks, which come with zeros in them.
using Gradients = std::function<void(nn::Decoder& policy, const UpdateRows&)>;

struct Round {
    double reward = 0;      ///< mean of all answers
    double divergence = 0;  ///< from the reference, mean over drawn tokens, nats; 0 without kl
    double undecided_groups = 0;  ///< share of the groups whose rewards are all equal: no direction
    std::int64_t drawn_tokens = 0;
    std::int64_t updates = 0;
};

class Grpo {
  public:
    /// The policy outlives the object; its moments are set to zero. gradients: empty: the plain
    /// gradient of weighted_losses().
    Grpo(nn::Decoder& policy, const GrpoOptions& options, Gradients gradients = {},
         Judge judge = right_answers);
    /// Draws, and updates the policy. A function of the policy, the questions, the options and how
    /// many rounds there have been. Throws std::runtime_error where a gradient is not finite.
    Round round(std::span<const Question> questions);

  private:
    nn::Decoder* policy_;
    GrpoOptions options_;
    Gradients gradients_;
    Judge judge_;
    Updater updater_;
    std::optional<nn::Decoder> reference_;
    std::int64_t rounds_ = 0;
};

}  // namespace assay::rl
