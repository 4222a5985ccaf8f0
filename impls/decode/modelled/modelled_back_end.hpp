// A back end of no model, in virtual time: the next token is a hash of those before, a step takes
// what a cost model says. The cache holds what the hash was at each position, so that a wrong block
// anywhere gives other tokens. A linked position brings the hash it had among others, and what
// follows it depends on that too.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "impls/decode/back_end.hpp"
#include "impls/decode/run_ahead.hpp"

namespace assay::decode {

/// Seconds of a step: fixed_s + max(weights_s, tokens · token_s) + positions · position_s, where
/// `positions` are all that the step's tokens attend to.
struct StepCost {
    double fixed_s = 0;     ///< launches and scheduling
    double weights_s = 0;   ///< reading the weights once
    double token_s = 0;     ///< products of one token
    double position_s = 0;  ///< reading one position's keys and values
    double block_s = 0;     ///< bringing a block to the host's memory, or from there

    double seconds(std::int64_t tokens, std::int64_t positions) const;
    /// Of a step of these slices, but for blocks.
    double seconds(std::span<const Slice> slices) const;
};

struct ModelledSettings {
    int vocabulary = 1000;
    int context = 4096;
    int blocks = 1024;
    std::uint64_t weights = 1;  ///< stands for them: others give other tokens
    StepCost cost;
    bool checks = false;     ///< every position of every slice is looked at: slow, for tests
    std::string identity{};  ///< BackEnd's, a wrong one for tests; empty: by the weights
};

/// They give tokens of their own.
struct ModelledWeights final : ModelWeights {
    explicit ModelledWeights(std::uint64_t number) : weights(number) {}
    std::string digest() const override { return std::to_string(weights); }
    std::uint64_t weights;
};

class ModelledBackEnd final : public BackEnd, public RunsAhead {
  public:
    explicit ModelledBackEnd(const ModelledSettings& settings);

    int vocabulary() const override { return settings_.vocabulary; }
    int context() const override { return settings_.context; }
    int blocks() const override { return settings_.blocks; }
    std::size_t block_bytes() const override;
    std::string identity() const override;
    bool fits(const ModelWeights& weights) const override;
    void use(std::shared_ptr<ModelWeights> weights) override;
    /// With checks: std::logic_error where a slice's blocks do not hold the tokens before it.
    void run(std::span<const Slice> slices, std::span<Outcome> out) override;
    int run_ahead(std::span<const Slice> slices, int steps,
                  std::span<const std::span<const int>> stops, std::span<int> ids,
                  std::span<float> log_probabilities, std::span<float> sampled,
                  std::span<double> seconds) override;
    void copy_block(int from, int to, int positions) override;
    bool can_link() const override { return true; }
    void link(const LinkedPositions& linked) override;
    void read_block(int block, std::span<std::byte> out) const override;
    void write_block(int block, std::span<const std::byte> in) override;
    double step_seconds() const override { return step_s_; }

    /// A fault: in the next step this slice (counted round) gives no finite logits.
    void fail_next(int slice) { fails_ = slice; }

  private:
    struct Position {  // in the cache
        std::uint64_t hash;
        std::uint32_t id;
        std::uint32_t weights : 30;
        std::uint32_t linked : 1;
        std::uint32_t waits : 1;  ///< linked, and `hash` does not count those before yet
    };
    Position& at(std::span<const int> blocks, int position);
    std::uint64_t hash_before(std::span<const int> blocks, int position);
    std::uint64_t feed(std::span<const int> blocks, int position, std::uint64_t before, int id);
    void check(const Slice& slice);
    static constexpr std::size_t slices_together = 8;
    int run_some_ahead(std::span<const Slice> slices, int steps,
                       std::span<const std::span<const int>> stops, int* ids, float* scores,
                       float* sampled, std::size_t stride);
    double transfer_s();

    ModelledSettings settings_;
    std::vector<Position> cache_;  // [block][position]
    std::optional<int> fails_;
    mutable std::int64_t transferred_ = 0;  // blocks since the last step
    double step_s_ = 0;
};

/// The token that a request is given after `hash`-ed ones, for an oracle without any cache:
/// weights[i] stands for those with which tokens[i] was fed.
struct ModelledToken {
    int id = -1;
    float log_probability = 0, sampled_log_probability = 0;
};
ModelledToken modelled_token(std::span<const int> tokens, std::span<const std::uint64_t> weights,
                             const Pick& pick, int vocabulary);

}  // namespace assay::decode
