#include "impls/rl/method/token_loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "suite/base/error.hpp"

namespace assay::rl {
namespace {

struct Term {
    double loss = 0, slope = 0;  ///< slope: d loss / d now
};

struct ClippedTerm : Term {
    bool clipped = false;
};

ClippedTerm clipped_term(double log_ratio, double advantage, const LossSettings& settings) {
    if (advantage == 0) return {};  // also where the ratio is infinite
    const double ratio = std::exp(log_ratio);
    const double bare = -advantage * ratio;
    const double clipped =
        -advantage * std::clamp(ratio, 1 - settings.clip_low, 1 + settings.clip_high);
    ClippedTerm term;
    term.clipped = clipped > bare;
    term.loss = term.clipped ? clipped : bare;
    term.slope = term.clipped ? 0 : bare;  // the derivative of exp is itself
    if (settings.dual_clip && advantage < 0 && term.loss > -advantage * *settings.dual_clip) {
        term.loss = -advantage * *settings.dual_clip;
        term.slope = 0;
    }
    return term;
}

Term kl_term(double now, double reference, KlEstimator estimator) {
    if (estimator == KlEstimator::k1) return {.loss = now - reference, .slope = 1};
    const double difference = reference - now;
    return {.loss = std::expm1(difference) - difference, .slope = -std::expm1(difference)};
}

/// Which tokens count, and how much each weighs.
class Weights {
  public:
    Weights(const LossRows& rows, const LossSettings& settings) : rows_(rows), settings_(settings) {
        for (std::size_t s = 0; s < rows.now.size(); ++s) {
            std::int64_t of_sequence = 0;
            for (std::size_t t = 0; t < rows.now[s].size(); ++t) of_sequence += scored(s, t);
            scored_of_sequence_.push_back(of_sequence);
            scored_ += of_sequence;
            scored_sequences_ += of_sequence > 0;
        }
    }

    bool scored(std::size_t s, std::size_t t) const {
        return rows_.scored.empty() || rows_.scored[s][t];
    }
    std::int64_t scored() const { return scored_; }

    /// Of a scored token of the sequence: weighted losses add up to the loss.
    double of(std::size_t s) const {
        switch (settings_.aggregate) {
            case Aggregate::token:
                return 1 / static_cast<double>(scored_);
            case Aggregate::sequence:
                return 1 / static_cast<double>(scored_of_sequence_[s]) /
                       static_cast<double>(scored_sequences_);
            case Aggregate::constant:
                break;
        }
        return 1 / static_cast<double>(rows_.now.size()) /
               static_cast<double>(settings_.max_tokens);
    }

  private:
    const LossRows& rows_;
    const LossSettings& settings_;
    std::vector<std::int64_t> scored_of_sequence_;
    std::int64_t scored_ = 0, scored_sequences_ = 0;
};

void check(const LossRows& rows, const LossSettings& settings) {
    const auto fits = [&](const auto& lists) {
        return std::equal(lists.begin(), lists.end(), rows.now.begin(), rows.now.end(),
                          [](const auto& a, const auto& b) { return a.size() == b.size(); });
    };
    if (!fits(rows.old) || rows.advantages.size() != rows.now.size() ||
        (!rows.reference.empty() && !fits(rows.reference)) ||
        (!rows.scored.empty() && !fits(rows.scored)))
        throw std::invalid_argument("the lists of responses differ in length");
    if (settings.kl && rows.reference.empty())
        throw std::invalid_argument("a divergence needs a reference");
    if (settings.aggregate == Aggregate::constant && settings.max_tokens <= 0)
        throw std::invalid_argument("the aggregate constant needs max_tokens");
}

}  // namespace

TokenLoss token_loss(const LossRows& rows, const LossSettings& settings) {
    check(rows, settings);
    const Weights weights(rows, settings);
    if (weights.scored() == 0) throw std::invalid_argument("no token is scored");
    const auto all = static_cast<double>(weights.scored());
    TokenLoss result;
    std::int64_t clipped = 0;
    for (std::size_t s = 0; s < rows.now.size(); ++s) {
        std::vector<double>& gradient = result.gradient.emplace_back(rows.now[s].size(), 0.0);
        for (std::size_t t = 0; t < rows.now[s].size(); ++t) {
            if (!weights.scored(s, t)) continue;
            const auto term =
                clipped_term(rows.now[s][t] - rows.old[s][t], rows.advantages[s], settings);
            double loss = term.loss, slope = term.slope;
            clipped += term.clipped;
            if (settings.kl) {
                const Term kl =
                    kl_term(rows.now[s][t], rows.reference[s][t], settings.kl->estimator);
                loss += settings.kl->coefficient * kl.loss;
                slope += settings.kl->coefficient * kl.slope;
                result.kl += kl.loss / all;
            }
            result.loss += weights.of(s) * loss;
            gradient[t] = weights.of(s) * slope + 0.0;  // never −0
            if (!std::isfinite(result.loss) || !std::isfinite(gradient[t]) ||
                !std::isfinite(result.kl))
                throw UserError(
                    fmt::format("sequence {}, token {}: the loss is too large for a double; the "
                                "log-probabilities of one token, or the advantages, are too far "
                                "apart",
                                s + 1, t + 1));
        }
    }
    result.clipped_share = static_cast<double>(clipped) / all;
    return result;
}

}  // namespace assay::rl
