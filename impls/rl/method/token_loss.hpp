// The loss of an update on responses and its gradient, in double and token by token: what the
// losses on tensors are held against, and `assay rl loss`. No libtorch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::rl {

/// Estimates of the divergence from a reference by one token (Schulman 2020, "Approximating KL
/// divergence"): k1 = new − ref, k3 = exp(ref − new) − (ref − new) − 1.
enum class KlEstimator { k1, k3 };
ASSAY_NAMES(KlEstimator, k1, k3)

/// How losses of scored tokens become one number:
///   token     their mean
///   sequence  the mean of the sequences' means, of those that have a scored token
///   constant  their sum / (all sequences · max_tokens) (Liu et al., arXiv 2503.20783)
enum class Aggregate { token, sequence, constant };
ASSAY_NAMES(Aggregate, token, sequence, constant)

struct KlPenalty {
    KlEstimator estimator = KlEstimator::k3;
    double coefficient = 0;
};

struct LossSettings {
    double clip_low = 0.2, clip_high = 0.2;  ///< the ratio counts from 1 − low to 1 + high
    std::optional<double> dual_clip;         ///< c, at least 1
    std::optional<KlPenalty> kl;             ///< needs a reference
    Aggregate aggregate = Aggregate::token;
    std::int64_t max_tokens = 0;  ///< of a response; for `constant`, above 0
};

/// [sequence][token] of the responses; sequences may differ in length, lists of one kind not from
/// those of another.
struct LossRows {
    using Lists = std::vector<std::vector<double>>;
    Lists now, old;                         ///< ln p of each token, now and when it was drawn
    Lists reference;                        ///< ln p under the reference; empty: there is none
    std::vector<std::vector<bool>> scored;  ///< whether a token counts; empty: all do
    std::vector<double> advantages;         ///< of each sequence
};

struct TokenLoss {
    double loss = 0;
    LossRows::Lists gradient;  ///< d loss / d now; 0 where a token is not scored
    /// Means over scored tokens: of those whose clipped loss exceeds the other one, dual clip not
    /// counted; of the divergence in nats without its coefficient, 0 without `kl`.
    double clipped_share = 0, kl = 0;
};

/// Per token with ρ = exp(now − old) and A the sequence's advantage: max(−Aρ, −A·clip(ρ)) (Schulman
/// et al., arXiv 1707.06347, eq. 7), at most −A·c where A < 0 (Ye et al., arXiv 1912.09729), and
/// coefficient · kl. Where two of these are equal, the gradient is the unclipped one's. Throws
/// std::invalid_argument for lists that do not fit together and without a scored token; UserError,
/// with sequence and token, where a result is too large for a double.
TokenLoss token_loss(const LossRows& rows, const LossSettings& settings);

}  // namespace assay::rl
