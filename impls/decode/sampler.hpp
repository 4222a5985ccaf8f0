// Which token is next: greedy at temperature 0, else softmax sampling with top-k and top-p, seeded;
// and how likely a token is.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace assay::decode {

struct Sampling {
    double temperature = 0;
    int top_k = 0;  ///< 0: all
    double top_p = 1.0;
    std::uint64_t seed = 1;
};

class Sampler {
  public:
    explicit Sampler(const Sampling& sampling);
    int choose(std::span<const float> logits);

  private:
    Sampling sampling_;
    std::uint64_t draws_ = 0;
};

/// ln of the softmax's entry `token`: nats, at most 0.
double log_probability(std::span<const float> logits, int token);

class Engine;  // engine.hpp
/// Nats of all tokens of a window but the first, each given those before it. Empties the engine's
/// cache first. `progress` hears how many are done; may be empty.
double nats_of_window(Engine& engine, std::span<const int> window,
                      const std::function<void(std::int64_t)>& progress = {});

}  // namespace assay::decode
