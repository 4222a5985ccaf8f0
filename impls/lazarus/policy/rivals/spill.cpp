#include "impls/lazarus/policy/rivals/spill.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace assay::lazarus {
namespace {

class Spill {
  public:
    Spill(std::span<const Tokens> rows, std::span<const int> holder, int ranks,
          const SpillLimits& limits)
        : limits_(limits), given_(nth(ranks), 0), to_come_(nth(ranks), 0), parts_(rows.size()) {
        for (std::size_t e = 0; e < rows.size(); ++e) to_come_[nth(holder[e])] += rows[e];
        mean_ = static_cast<double>(std::accumulate(rows.begin(), rows.end(), Tokens{0})) / ranks;
        room_ = static_cast<Tokens>(std::ceil(limits.capacity * mean_));
    }

    bool balanced() const {
        const auto fullest = *std::max_element(to_come_.begin(), to_come_.end());
        return static_cast<double>(fullest) < limits_.imbalance * mean_;
    }

    void share_out(std::size_t expert, Tokens rows, int holder) {
        to_come_[nth(holder)] -= rows;
        const Tokens kept = std::clamp(free_of(holder), Tokens{0}, rows);
        give(expert, holder, kept);
        Tokens left = rows - kept;
        while (left > 0) {
            if (const auto helper = helper_for(left, holder)) {
                const Tokens piece = std::min(left, free_of(*helper));
                give(expert, *helper, piece);
                left -= piece;
            } else {
                give(expert, least_loaded(holder), left);
                left = 0;
            }
        }
    }

    std::vector<std::vector<SpillPart>> take() { return std::move(parts_); }

  private:
    Tokens load(int rank) const { return given_[nth(rank)] + to_come_[nth(rank)]; }
    Tokens free_of(int rank) const { return room_ - load(rank); }

    std::optional<int> helper_for(Tokens left, int holder) const {
        std::optional<int> least;
        for (int rank = 0; rank < static_cast<int>(given_.size()); ++rank) {
            if (rank == holder || free_of(rank) <= 0) continue;
            if (free_of(rank) < std::min(left, limits_.fewest)) continue;
            if (!least || load(rank) < load(*least)) least = rank;
        }
        return least;
    }

    /// But the holder, where there is another.
    int least_loaded(int holder) const {
        int least = holder;
        for (int rank = 0; rank < static_cast<int>(given_.size()); ++rank)
            if (rank != holder && (least == holder || load(rank) < load(least))) least = rank;
        return least;
    }

    void give(std::size_t expert, int rank, Tokens rows) {
        if (rows == 0) return;
        given_[nth(rank)] += rows;
        auto& parts = parts_[expert];
        const auto part = std::ranges::find(parts, rank, &SpillPart::rank);
        if (part != parts.end())
            part->rows += rows;
        else
            parts.push_back({rank, rows});
    }

    SpillLimits limits_;
    double mean_ = 0;
    Tokens room_ = 0;
    std::vector<Tokens> given_, to_come_;  ///< [rank]
    std::vector<std::vector<SpillPart>> parts_;
};

}  // namespace

std::vector<std::vector<SpillPart>> spill_rows(std::span<const Tokens> rows,
                                               std::span<const int> holder, int ranks,
                                               const SpillLimits& limits) {
    Spill spill(rows, holder, ranks, limits);
    if (spill.balanced()) {
        std::vector<std::vector<SpillPart>> parts(rows.size());
        for (std::size_t e = 0; e < rows.size(); ++e)
            if (rows[e] > 0) parts[e] = {{holder[e], rows[e]}};
        return parts;
    }
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rows[a] > rows[b]; });
    for (const std::size_t e : order) spill.share_out(e, rows[e], holder[e]);
    return spill.take();
}

}  // namespace assay::lazarus
