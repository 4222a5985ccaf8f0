#include "impls/decode/cpu/picker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "impls/nn/hashes.hpp"

namespace assay::decode {
namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

int pieces_of(std::size_t logits) {
    return static_cast<int>((logits + softmax_piece - 1) / softmax_piece);
}

float most_of(std::span<const SoftmaxPart> parts) {
    float most = never;
    for (const SoftmaxPart& part : parts) most = std::max(most, part.most);
    return most;
}

int first_of(std::span<const float> logits, float value) {
    return static_cast<int>(std::find(logits.begin(), logits.end(), value) - logits.begin());
}

/// Uniform in [0, 1).
double uniform(const Pick& pick) {
    const std::uint64_t random = nn::counter_hash(nn::counter_hash(pick.sampling.seed) + pick.draw);
    return std::ldexp(static_cast<double>(random >> 11), -53);
}

class Draw {
  public:
    Draw(std::span<const float> logits, const Pick& pick, std::span<const SoftmaxPart> parts)
        : logits_(logits),
          pick_(pick),
          parts_(parts),
          most_(static_cast<double>(most_of(parts))),
          all_(0) {
        for (const SoftmaxPart& part : parts) all_ += share_of(part);
    }

    /// Of all ids, in their order.
    int of_all() const {
        double left = all_ * uniform(pick_);
        std::size_t piece = 0;
        while (piece + 1 < parts_.size() && left >= share_of(parts_[piece]))
            left -= share_of(parts_[piece++]);
        const std::size_t begin = piece * softmax_piece;
        const std::size_t end = std::min(begin + softmax_piece, logits_.size());
        int last = -1;  // that could be drawn: where rounding leaves something over
        for (std::size_t i = begin; i < end; ++i) {
            const double share = weight(static_cast<int>(i));
            if (!(share > 0)) continue;
            last = static_cast<int>(i);
            left -= share;
            if (left < 0) break;
        }
        return last >= 0 ? last : first_of(logits_, static_cast<float>(most_));
    }

    /// Of the top-k, and of these the fewest that have the share top-p; heaviest first.
    int of_top() {
        const int vocabulary = static_cast<int>(logits_.size());
        const int k = pick_.sampling.top_k > 0 ? std::min(pick_.sampling.top_k, vocabulary) : 0;
        ids_.resize(logits_.size());
        std::iota(ids_.begin(), ids_.end(), 0);
        // How far the order is needed shows only in sorting: a few suffice nearly always.
        for (int sorted = k > 0 ? k : std::min(64, vocabulary);;
             sorted = std::min(8 * sorted, vocabulary)) {
            sort_first(sorted);
            double all = all_;
            if (k > 0) {
                all = 0;
                for (int i = 0; i < k; ++i) all += weight(ids_[static_cast<std::size_t>(i)]);
            }
            double kept = 0;
            int count = 0;
            while (count < sorted &&
                   (count == 0 || pick_.sampling.top_p >= 1 || kept < pick_.sampling.top_p * all))
                kept += weight(ids_[static_cast<std::size_t>(count++)]);
            if (k == 0 && count == sorted && sorted < vocabulary) continue;
            double left = kept * uniform(pick_);
            int last = 0;  // that could be drawn, as in of_all(): behind it no share is left
            for (int i = 0; i < count; ++i) {
                const double share = weight(ids_[static_cast<std::size_t>(i)]);
                if (!(share > 0)) break;
                last = i;
                left -= share;
                if (left < 0) break;
            }
            return ids_[static_cast<std::size_t>(last)];
        }
    }

  private:
    double weight(int id) const {
        return std::exp((static_cast<double>(logits_[static_cast<std::size_t>(id)]) - most_) /
                        pick_.sampling.temperature);
    }
    double share_of(const SoftmaxPart& part) const {
        if (part.most == never) return 0;
        return part.sum *
               std::exp((static_cast<double>(part.most) - most_) / pick_.sampling.temperature);
    }
    void sort_first(int count) {
        const auto heavier = [&](int a, int b) {
            const float x = logits_[static_cast<std::size_t>(a)];
            const float y = logits_[static_cast<std::size_t>(b)];
            return x > y || (x == y && a < b);
        };
        if (count < static_cast<int>(ids_.size()))
            std::nth_element(ids_.begin(), ids_.begin() + count, ids_.end(), heavier);
        std::sort(ids_.begin(), ids_.begin() + count, heavier);
    }

    std::span<const float> logits_;
    const Pick& pick_;
    std::span<const SoftmaxPart> parts_;
    double most_, all_;
    std::vector<int> ids_;
};

void mask(std::span<const float> logits, std::span<const std::uint64_t> allowed, int begin, int end,
          std::vector<float>& out) {
    for (int i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        out[at] = allowed[at / 64] >> (at % 64) & 1 ? logits[at] : never;
    }
}

}  // namespace

float sharpness_of(double temperature) {
    return static_cast<float>(std::clamp(1 / temperature, 1e-30, 1e30));
}

std::vector<SoftmaxPart> softmax_parts(const Loops& loops, std::span<const float> logits,
                                       float sharpness) {
    std::vector<SoftmaxPart> parts;
    for (int piece = 0; piece < pieces_of(logits.size()); ++piece) {
        const auto begin = static_cast<std::size_t>(piece * softmax_piece);
        const std::size_t count = std::min<std::size_t>(softmax_piece, logits.size() - begin);
        parts.push_back(loops.softmax(logits.data() + begin, static_cast<int>(count), sharpness));
    }
    return parts;
}

double log_sum(std::span<const SoftmaxPart> parts) {
    const auto most = static_cast<double>(most_of(parts));
    double sum = 0;
    for (const SoftmaxPart& part : parts)
        sum += part.sum * std::exp(static_cast<double>(part.most) - most);
    return most + std::log(sum);
}

int pick_id(std::span<const float> logits, const Pick& pick,
            std::span<const SoftmaxPart> sharpened) {
    if (pick.sampling.temperature == 0)
        return static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    Draw draw(logits, pick, sharpened);
    const bool all = pick.sampling.top_k == 0 && pick.sampling.top_p >= 1;
    return all ? draw.of_all() : draw.of_top();
}

void Picker::run(AssayContext& context, const Loops& loops, std::span<const LogitRow> rows,
                 std::span<PickedRow> out) {
    if (rows.empty()) return;
    const int pieces = pieces_of(rows[0].logits.size());
    if (states_.size() < rows.size()) states_.resize(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
        RowState& state = states_[r];
        state.parts.resize(static_cast<std::size_t>(pieces));
        state.sharpened.resize(static_cast<std::size_t>(pieces));
        const bool masked = rows[r].pick && !rows[r].pick->allowed.empty();
        if (masked) state.masked.resize(rows[r].logits.size());
        state.logits = masked ? state.masked.data() : rows[r].logits.data();
    }
    context.pool.run(static_cast<int>(rows.size()) * pieces, [&](int item) {
        const LogitRow& row = rows[static_cast<std::size_t>(item / pieces)];
        RowState& state = states_[static_cast<std::size_t>(item / pieces)];
        const auto piece = static_cast<std::size_t>(item % pieces);
        const int begin = item % pieces * softmax_piece;
        const int end = std::min(begin + softmax_piece, static_cast<int>(row.logits.size()));
        state.parts[piece] = loops.softmax(row.logits.data() + begin, end - begin, 1.0f);
        if (!row.pick || row.pick->forced >= 0) return;
        if (!row.pick->allowed.empty())
            mask(row.logits, row.pick->allowed, begin, end, state.masked);
        if (row.pick->sampling.temperature > 0)
            state.sharpened[piece] = loops.softmax(state.logits + begin, end - begin,
                                                   sharpness_of(row.pick->sampling.temperature));
    });
    context.pool.run(static_cast<int>(rows.size()), [&](int r) {
        const LogitRow& row = rows[static_cast<std::size_t>(r)];
        const RowState& state = states_[static_cast<std::size_t>(r)];
        PickedRow& picked = out[static_cast<std::size_t>(r)];
        picked = {};
        // A NaN, an infinite logit, or none that is finite make it none.
        const double all = log_sum(state.parts);
        picked.finite = std::isfinite(all);
        for (const SoftmaxPart& part : state.parts) picked.finite &= !part.is_nan;
        if (!picked.finite) return;
        const auto log_probability = [&](int id) {
            return static_cast<double>(row.logits[static_cast<std::size_t>(id)]) - all;
        };
        if (row.scored >= 0) picked.score = log_probability(row.scored);
        if (!row.pick) return;
        picked.id = row.pick->forced >= 0
                        ? row.pick->forced
                        : pick_id({state.logits, row.logits.size()}, *row.pick, state.sharpened);
        picked.log_probability = log_probability(picked.id);
    });
}

}  // namespace assay::decode
