// Which engine decodes a node, where there are several: without I/O.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "impls/decode/pool/pool.hpp"
#include "impls/decode/schedule/cached_prefixes.hpp"

namespace assay::plato {

/// The first version's adaptive model selection: nodes that the planner finds easy go to engines
/// with a second, smaller model (model 1), all others to those with the first. 0: none is easy.
struct AdaptiveModel {
    int easy_up_to = 0;
    int model_of(const std::optional<int>& difficulty) const {
        return difficulty.value_or(6) <= easy_up_to ? 1 : 0;
    }
};

/// A node goes where most of its prompt is cached or linked, then where fewest are, then to the
/// lowest number. What is cached is what was sent there and not given up or lost since: engines are
/// not asked.
class Placement {
  public:
    /// blocks: of each engine's cache.
    explicit Placement(int blocks) : blocks_(blocks) {}

    struct Node {
        std::span<const int> tokens;  ///< its prompt, and what is known of its answer
        int model = 0;
        /// No more of a prefix counts than the node may take.
        std::int64_t most_reused = std::numeric_limits<std::int64_t>::max();
        /// Of each place, tokens that it has elsewhere than in a prefix; empty: none.
        std::span<const std::int64_t> linked{};
    };
    /// Among those that take and have the model.
    std::optional<decode::Seat> choose(const Node& node,
                                       std::span<const decode::Place> places) const;

    void add(decode::Seat seat, std::span<const int> tokens);
    void clear(decode::Seat seat) { prefixes_.erase(seat); }  ///< wiped or lost
    std::int64_t cached(decode::Seat seat, std::span<const int> tokens) const;

  private:
    int blocks_;
    std::map<decode::Seat, decode::CachedPrefixes> prefixes_;
};

}  // namespace assay::plato
