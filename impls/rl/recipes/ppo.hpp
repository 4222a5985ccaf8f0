// Proximal policy optimisation (Schulman et al., arXiv 1707.06347) of a decoder with a critic, as
// answers are trained by it (Ziegler et al., arXiv 1909.08593): a reward for the whole answer at
// its last token, and a penalty for every token that the reference would not have drawn. In parts,
// so that whoever selects or moves rows can stand between them: collect() draws, judges and weighs,
// update() learns, finish() moves the penalty.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>

#include "impls/nn/decoder.hpp"
#include "impls/rl/method/advantages.hpp"
#include "impls/rl/method/policy_loss.hpp"
#include "impls/rl/recipes/rollouts.hpp"
#include "impls/rl/recipes/scalar_head.hpp"
#include "impls/rl/recipes/update.hpp"

namespace assay::rl {

struct PpoOptions {
    int answers = 1;      ///< to each question
    int longest = 16;     ///< tokens of an answer
    int rows_a_step = 0;  ///< answers an update is made from; 0: all
    int epochs = 4;       ///< times that answers are gone through
    Clipping clipping;
    double value_range = 0.2;   ///< that a value may move away from its old one and still count
    double value_weight = 0.1;  ///< of the critic's loss beside the policy's
    double gamma = 1, lambda = 0.95;
    bool normalised = true;  ///< advantages of a round have mean 0 and deviation 1
    /// Coefficient of the penalty at first; driven towards a divergence of kl_target nats an
    /// answer, by up to 0.2·answers/kl_horizon an update of it.
    double kl = 0.02, kl_target = 6, kl_horizon = 10000;
    double clip = 1.0;  ///< global gradient norm; 0: none
    nn::AdamOptions adam{1e-4, 0.9, 0.999, 1e-8};
    double value_rate_factor = 10;  ///< how much faster the critic's head learns
    std::int64_t warmup = 0;        ///< updates over which the rate rises
    std::uint64_t seed = 1;         ///< of draws and of the order of rows
};

/// Judged answers with all that an update needs to know of them; tensors are fp32 [rows, length].
struct PpoRows {
    Rollouts rollouts;
    at::Tensor reference;  ///< ln p under the reference
    at::Tensor values;     ///< of the critic when they were drawn
    at::Tensor advantages, returns;

    std::int64_t count() const { return rollouts.rows(); }
    /// The listed rows, in that order.
    PpoRows rows(std::span<const std::int64_t> picked) const;
};

/// Reward of every token: −kl·(ln p − ln p of the reference), and the answer's at its last token; 0
/// outside answers. fp32 [rows, length].
at::Tensor token_rewards(const Rollouts&, const at::Tensor& reference, double kl);

/// Advantages and returns of every answer (advantages.hpp) from rewards and values of its tokens,
/// fp32 [rows, length], 0 outside answers. With `normalised` the advantages of all tokens together
/// have mean 0 and (sample) deviation 1, unless all are equal.
struct TokenEstimates {
    at::Tensor advantages, returns;
};
TokenEstimates token_estimates(const at::Tensor& answered, const at::Tensor& rewards,
                               const at::Tensor& values, const PpoOptions& options);

/// Losses of tokens under the policy and the critic as they are now, weighted so that they add up
/// to the loss of an update (means over answered tokens): [rows, length], with graph.
at::Tensor ppo_losses(const at::Tensor& now, const at::Tensor& values, const PpoRows& rows,
                      const PpoOptions& options);

/// Leaves the gradients of an update in the blocks of policy and critic, which come with zeros.
using PpoGradients = std::function<void(nn::Decoder& policy, ScalarHead& critic, const PpoRows&)>;

struct PpoRound {
    double reward = 0;      ///< mean of all answers, the judge's
    double divergence = 0;  ///< from the reference: sum over an answer's tokens, mean, nats
    double kl = 0;          ///< coefficient that the round was weighed with
    std::int64_t drawn_tokens = 0;
};

class Ppo {
  public:
    /// The policy outlives the object and is its own reference; its moments are set to zero.
    /// gradients: empty: the plain gradient of ppo_losses().
    Ppo(nn::Decoder& policy, const PpoOptions& options, Judge judge, PpoGradients gradients = {});

    /// Draws and judges answers, and weighs them by token_estimates(). A function of policy,
    /// critic, penalty and arguments; changes nothing.
    PpoRows collect(std::span<const Question> questions, std::uint64_t seed) const;
    /// Goes through the rows `epochs` times. A function of policy, critic and arguments. Throws
    /// std::runtime_error where a gradient is not finite.
    void update(const PpoRows& rows, std::uint64_t seed);
    /// After a round: moves the penalty's coefficient.
    PpoRound finish(const PpoRows& rows);

    /// The three of them. A function of the policy, the questions, the options and how many rounds
    /// there have been.
    PpoRound round(std::span<const Question> questions);
    /// Seeds of the round that comes next: of its draws, of its order of rows.
    struct Seeds {
        std::uint64_t draws, order;
    };
    Seeds next_seeds();

    const ScalarHead& critic() const { return critic_; }
    std::int64_t updates() const { return updater_.updates(); }

  private:
    nn::Decoder* policy_;
    PpoOptions options_;
    Judge judge_;
    PpoGradients gradients_;
    ScalarHead critic_;
    Updater updater_;
    nn::Decoder reference_;
    AdaptiveKl kl_;
    std::int64_t rounds_ = 0;
};

}  // namespace assay::rl
