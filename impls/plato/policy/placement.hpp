// Which engine decodes a node, where there are several: without I/O.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>

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

/// A node goes where most of its prompt is cached, then where fewest run, then to the lowest
/// number. What is cached is what was sent there and not given up or lost since: engines are not
/// asked.
class Placement {
  public:
    /// blocks: of each engine's cache.
    Placement(int engines, int blocks);

    void set_model(int engine, int model) { at(engine).model = model; }
    /// Among engines with that model; -1: none is usable. most_reused: no more of a prefix counts
    /// than the node may take. besides: of each engine, tokens that it has elsewhere than in a
    /// prefix, and that count as much.
    int choose(std::span<const int> prompt,
               std::int64_t most_reused = std::numeric_limits<std::int64_t>::max(), int model = 0,
               std::span<const std::int64_t> besides = {}) const;

    void on_started(int engine, std::span<const int> prompt);
    /// `tokens`: prompt and answer; the last of them was never fed.
    void on_ended(int engine, std::span<const int> tokens);
    void on_taken_back(int engine);  ///< one that ran there runs there no more
    void on_wiped(int engine);       ///< its cache is empty
    void on_lost(int engine);        ///< with its cache and all that ran
    void on_back(int engine);

    bool usable(int engine) const { return at(engine).usable; }
    int running(int engine) const { return at(engine).running; }
    std::int64_t cached(int engine, std::span<const int> prompt) const {
        return at(engine).prefixes.match(prompt);
    }

  private:
    struct Engine {
        bool usable = true;
        int model = 0;
        int running = 0;
        decode::CachedPrefixes prefixes;

        explicit Engine(int blocks) : prefixes(blocks) {}
    };
    Engine& at(int engine) { return engines_[static_cast<std::size_t>(engine)]; }
    const Engine& at(int engine) const { return engines_[static_cast<std::size_t>(engine)]; }
    std::deque<Engine> engines_;
};

}  // namespace assay::plato
