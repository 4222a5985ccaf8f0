#include "impls/decode/cpu/picker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "impls/nn/hashes.hpp"

namespace assay::decode {
namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

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

/// Fills `ids` with those of the largest logits, the largest first, among equals the lower id.
void take_heaviest(std::span<const float> logits, std::span<int> ids) {
    const auto heavier = [&](int a, int b) {
        const float x = logits[static_cast<std::size_t>(a)];
        const float y = logits[static_cast<std::size_t>(b)];
        return x > y || (x == y && a < b);
    };
    std::iota(ids.begin(), ids.end(), 0);
    if (ids.size() < logits.size()) {
        std::make_heap(ids.begin(), ids.end(), heavier);  // the lightest in front
        float least = logits[static_cast<std::size_t>(ids.front())];
        for (std::size_t i = ids.size(); i < logits.size(); ++i) {
            if (!(logits[i] > least)) continue;  // an equal one has the higher id
            std::pop_heap(ids.begin(), ids.end(), heavier);
            ids.back() = static_cast<int>(i);
            std::push_heap(ids.begin(), ids.end(), heavier);
            least = logits[static_cast<std::size_t>(ids.front())];
        }
    }
    std::sort(ids.begin(), ids.end(), heavier);
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
    PickedId of_all() const {
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
        return drawn(last >= 0 ? last : first_of(logits_, static_cast<float>(most_)), all_);
    }

    /// Of the top-k, and of these the fewest that have the share top-p; heaviest first.
    PickedId of_top(std::span<int> room) const {
        const std::size_t k =
            pick_.sampling.top_k > 0
                ? std::min(static_cast<std::size_t>(pick_.sampling.top_k), logits_.size())
                : 0;
        // How far the order is needed shows only in sorting: a few suffice nearly always.
        constexpr std::size_t few = 64;
        for (std::size_t sorted = k > 0 ? k : std::min(few, logits_.size());;
             sorted = std::min(8 * sorted, logits_.size())) {
            const std::span<int> ids = room.first(sorted);
            take_heaviest(logits_, ids);
            double all = all_;
            if (k > 0) {
                all = 0;
                for (const int id : ids) all += weight(id);
            }
            double kept = 0;
            std::size_t count = 0;
            while (count < sorted &&
                   (count == 0 || pick_.sampling.top_p >= 1 || kept < pick_.sampling.top_p * all))
                kept += weight(ids[count++]);
            if (k == 0 && count == sorted && sorted < logits_.size()) continue;
            double left = kept * uniform(pick_);
            int last = ids[0];  // that could be drawn, as in of_all(): behind it no share is left
            for (const int id : ids.first(count)) {
                const double share = weight(id);
                if (!(share > 0)) break;
                last = id;
                left -= share;
                if (left < 0) break;
            }
            return drawn(last, kept);
        }
    }

  private:
    /// Out of ids that have the weight `all` together.
    PickedId drawn(int id, double all) const { return {id, exponent(id) - std::log(all)}; }
    double exponent(int id) const {
        return (static_cast<double>(logits_[static_cast<std::size_t>(id)]) - most_) /
               pick_.sampling.temperature;
    }
    double weight(int id) const { return std::exp(exponent(id)); }
    double share_of(const SoftmaxPart& part) const {
        if (part.most == never) return 0;
        return part.sum *
               std::exp((static_cast<double>(part.most) - most_) / pick_.sampling.temperature);
    }

    std::span<const float> logits_;
    const Pick& pick_;
    std::span<const SoftmaxPart> parts_;
    double most_, all_;
};

/// `first`: the id of logits[0].
void mask(std::span<float> logits, std::span<const std::uint64_t> allowed, std::size_t first) {
    for (std::size_t i = 0; i < logits.size(); ++i)
        if ((allowed[(first + i) / 64] >> ((first + i) % 64) & 1) == 0) logits[i] = never;
}

}  // namespace

float sharpness_of(double temperature) {
    return static_cast<float>(std::clamp(1 / temperature, 1e-30, 1e30));
}

double log_sum(std::span<const SoftmaxPart> parts) {
    const auto most = static_cast<double>(most_of(parts));
    double sum = 0;
    for (const SoftmaxPart& part : parts)
        sum += part.sum * std::exp(static_cast<double>(part.most) - most);
    return most + std::log(sum);
}

PickedId pick_id(std::span<const float> logits, const Pick& pick,
                 std::span<const SoftmaxPart> sharpened, std::span<int> room) {
    if (pick.sampling.temperature == 0) {
        const float most = most_of(sharpened);
        std::size_t piece = 0;
        while (sharpened[piece].most != most) ++piece;
        const std::size_t begin = piece * softmax_piece;
        return {static_cast<int>(begin) + first_of(logits.subspan(begin), most), 0};
    }
    const Draw draw(logits, pick, sharpened);
    const bool all = pick.sampling.top_k == 0 && pick.sampling.top_p >= 1;
    return all ? draw.of_all() : draw.of_top(room);
}

Picker::Picker(int vocabulary, int rows, int threads)
    : vocabulary_(vocabulary),
      pieces_((vocabulary + softmax_piece - 1) / softmax_piece),
      threads_(threads),
      parts_(static_cast<std::size_t>(rows * pieces_)),
      sharpened_(parts_.size()),
      scored_(static_cast<std::size_t>(rows)),
      // Most of it is touched by those alone who draw from nearly all ids.
      room_(std::make_unique_for_overwrite<int[]>(static_cast<std::size_t>(threads) *
                                                  static_cast<std::size_t>(vocabulary))) {}

std::span<SoftmaxPart> Picker::parts_of(std::vector<SoftmaxPart>& parts, int row) const {
    return std::span(parts).subspan(static_cast<std::size_t>(row * pieces_),
                                    static_cast<std::size_t>(pieces_));
}

void Picker::run(AssayContext& context, const Loops& loops, std::span<const LogitRow> rows,
                 std::span<PickedRow> out) {
    if (rows.empty()) return;
    const int count = static_cast<int>(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r)
        if (rows[r].scored >= 0)
            scored_[r] = rows[r].logits[static_cast<std::size_t>(rows[r].scored)];
    context.pool.run(count * pieces_, [&](int item) {
        const int row = item / pieces_;
        sum_up(loops, rows[static_cast<std::size_t>(row)], row, item % pieces_);
    });
    const int shares = std::min(count, threads_);
    context.pool.run(shares, [&](int share) {
        const auto vocabulary = static_cast<std::size_t>(vocabulary_);
        const std::span room(room_.get() + static_cast<std::size_t>(share) * vocabulary,
                             vocabulary);
        for (int row = share; row < count; row += shares)
            pick(rows[static_cast<std::size_t>(row)], row, room,
                 out[static_cast<std::size_t>(row)]);
    });
}

void Picker::sum_up(const Loops& loops, const LogitRow& row, int index, int piece) {
    const auto begin = static_cast<std::size_t>(piece * softmax_piece);
    const auto logits =
        row.logits.subspan(begin, std::min<std::size_t>(softmax_piece, row.logits.size() - begin));
    const auto sum = [&](float sharpness) {
        return loops.softmax(logits.data(), static_cast<int>(logits.size()), sharpness);
    };
    const auto at = static_cast<std::size_t>(piece);
    parts_of(parts_, index)[at] = sum(1.0f);
    if (!row.pick || row.pick->forced >= 0) return;
    if (!row.pick->allowed.empty()) mask(logits, row.pick->allowed, begin);
    const bool greedy = row.pick->sampling.temperature == 0;
    SoftmaxPart& sharpened = parts_of(sharpened_, index)[at];
    if (greedy && row.pick->allowed.empty())
        sharpened = parts_of(parts_, index)[at];
    else
        sharpened = sum(greedy ? 1.0f : sharpness_of(row.pick->sampling.temperature));
}

void Picker::pick(const LogitRow& row, int index, std::span<int> room, PickedRow& out) {
    out = {};
    // A NaN, an infinite logit, or none that is finite make it none.
    const std::span<SoftmaxPart> parts = parts_of(parts_, index);
    const double all = log_sum(parts);
    out.finite = std::isfinite(all);
    for (const SoftmaxPart& part : parts) out.finite &= !part.is_nan;
    if (!out.finite) return;
    if (row.scored >= 0)
        out.score = static_cast<double>(scored_[static_cast<std::size_t>(index)]) - all;
    if (!row.pick) return;
    if (row.pick->forced >= 0) {
        out.id = row.pick->forced;
    } else {
        const PickedId picked = pick_id(row.logits, *row.pick, parts_of(sharpened_, index), room);
        out.id = picked.id;
        out.sampled_log_probability = static_cast<float>(picked.log_probability);
    }
    out.log_probability =
        static_cast<float>(static_cast<double>(row.logits[static_cast<std::size_t>(out.id)]) - all);
}

}  // namespace assay::decode
