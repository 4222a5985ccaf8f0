#include "impls/hetermoe/policy/squeeze_search.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

namespace assay::hetermoe {
namespace {

// The smallest vector with that sum, lexicographically: all that fits stands at the end.
void fill_from(std::vector<int>& vector, std::size_t first, std::int64_t sum, int most) {
    for (std::size_t i = vector.size(); i > first; --i) {
        vector[i - 1] = static_cast<int>(std::min<std::int64_t>(most, sum));
        sum -= vector[i - 1];
    }
}

// The next one with the same sum; false after the last.
bool next_vector(std::vector<int>& vector, int most) {
    std::int64_t behind = 0;
    for (std::size_t i = vector.size(); i > 0; --i) {
        int& value = vector[i - 1];
        if (behind > 0 && value < most) {
            ++value;
            fill_from(vector, i, behind - 1, most);
            return true;
        }
        behind += value;
    }
    return false;
}

class Search {
  public:
    Search(const TaskTimes& times, int micro_batches, const Chunks& chunks, std::size_t layers)
        : times_(times), micro_batches_(micro_batches), chunks_(chunks), offload_(layers) {}

    // In the order in which vectors are preferred.
    struct Found {
        Ticks makespan = 0;
        std::int64_t moved = 0;
        std::vector<int> vector;
        bool operator<(const Found& other) const {
            return std::tie(makespan, moved, vector) <
                   std::tie(other.makespan, other.moved, other.vector);
        }
    };

    Found measure(const std::vector<int>& vector) {
        ++tried_;
        for (std::size_t l = 0; l < vector.size(); ++l) offload_[l] = vector[l] * chunks_.given;
        return {zebra_makespan(times_, {.micro_batches = micro_batches_, .offload = offload_}),
                total(vector), vector};
    }

    // No step that moves so many chunks is shorter: attention GPUs compute from its start to its
    // end, expert GPUs between the first layer's forward and backward attention task.
    Ticks at_least(std::int64_t moved) const {
        const Ticks experts = Ticks{moved} * chunks_.given;
        const auto layers = static_cast<Ticks>(offload_.size());
        const auto both = [&](Ticks TaskTimes::Pass::*member) {
            return times_.forward.*member + times_.backward.*member;
        };
        using Pass = TaskTimes::Pass;
        const Ticks attention =
            layers * both(&Pass::attention) + both(&Pass::head) + experts * both(&Pass::moved);
        const Ticks expert = (layers * times_.residents - experts) * both(&Pass::expert);
        return std::max(micro_batches_ * attention,
                        micro_batches_ * expert + both(&Pass::attention) + 2 * times_.exchange);
    }

    bool allowed(const std::vector<int>& vector) const {
        const std::int64_t sum = total(vector);
        return sum >= chunks_.least && sum <= chunks_.most &&
               std::all_of(vector.begin(), vector.end(),
                           [&](int chunks) { return chunks >= 0 && chunks <= chunks_.per_layer; });
    }

    bool spent() const { return tried_ >= most_steps; }

    static std::int64_t total(const std::vector<int>& vector) {
        return std::accumulate(vector.begin(), vector.end(), std::int64_t{0});
    }

  private:
    const TaskTimes& times_;
    int micro_batches_ = 0;
    const Chunks& chunks_;
    std::vector<int> offload_;
    int tried_ = 0;
};

// Takes the first neighbour that is better, until there is none.
Search::Found improved(Search& search, Search::Found best) {
    const auto layers = best.vector.size();
    // Each layer: one chunk more, one fewer, one from the layer before it, one from the one after.
    std::size_t since_better = 0;
    for (std::size_t at = 0; since_better < 4 * layers && !search.spent();
         at = (at + 1) % (4 * layers)) {
        std::vector<int> other = best.vector;
        const std::size_t layer = at / 4;
        const bool from_before = at % 4 == 2, from_after = at % 4 == 3;
        ++since_better;
        if ((from_before && layer == 0) || (from_after && layer + 1 == layers)) continue;
        other[layer] += at % 4 == 1 ? -1 : 1;
        if (from_before) --other[layer - 1];
        if (from_after) --other[layer + 1];
        if (!search.allowed(other) || search.at_least(Search::total(other)) > best.makespan)
            continue;
        Search::Found found = search.measure(other);
        if (found < best) {
            best = std::move(found);
            since_better = 0;
        }
    }
    return best;
}

}  // namespace

void for_each_vector(int layers, const Chunks& chunks,
                     const std::function<bool(const std::vector<int>&)>& visit) {
    std::vector<int> vector(static_cast<std::size_t>(layers));
    for (std::int64_t sum = chunks.least; sum <= chunks.most; ++sum) {
        fill_from(vector, 0, sum, chunks.per_layer);
        do {
            if (!visit(vector)) return;
        } while (next_vector(vector, chunks.per_layer));
    }
}

std::vector<int> search_squeeze(const TaskTimes& times, int micro_batches, const Chunks& chunks,
                                const std::vector<int>& published) {
    Search search(times, micro_batches, chunks, published.size());
    int vectors = 0;
    for_each_vector(static_cast<int>(published.size()), chunks,
                    [&](const std::vector<int>&) { return ++vectors <= most_vectors; });
    Search::Found best = search.measure(published);
    if (vectors > most_vectors) {
        const std::vector<int> none(published.size(), 0);
        if (search.allowed(none)) best = std::min(best, search.measure(none));
        return improved(search, std::move(best)).vector;
    }
    for_each_vector(static_cast<int>(published.size()), chunks,
                    [&](const std::vector<int>& vector) {
                        if (search.at_least(Search::total(vector)) > best.makespan) return true;
                        Search::Found found = search.measure(vector);
                        if (found < best) best = std::move(found);
                        return true;
                    });
    return best.vector;
}

}  // namespace assay::hetermoe
