// The rows that a fine-tuning sees: a function of the seed and the step.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "impls/dr_post_training/recipes/pools.hpp"
#include "impls/dr_post_training/recipes/settings.hpp"
#include "impls/nn/text/scored_rows.hpp"

namespace assay::dr_post_training {

/// The rows of one seed. Those of a step are a function of the step.
class SftRows {
  public:
    struct Row {
        nn::ScoredRow row;
        Kind kind = Kind::other;
    };
    /// A general row by its number, and a target row by its number among those of a use.
    struct Source {
        std::function<Row(std::uint64_t number)> general;
        std::function<nn::ScoredRow(Use, std::uint64_t number)> target;
    };

    /// Of recipes/pools.hpp.
    SftRows(const SftSettings& settings, std::uint64_t seed);
    SftRows(const SftSettings& settings, std::uint64_t seed, Source source);

    struct General {
        std::vector<nn::ScoredRow> rows;
        std::vector<Kind> kinds;
    };
    General general(std::int64_t step) const;                    ///< n of the pool
    std::vector<nn::ScoredRow> target(std::int64_t step) const;  ///< m of the given ones
    /// n of the given ones, for arms that train on nothing else.
    std::vector<nn::ScoredRow> target_batch(std::int64_t step) const;

    const std::vector<nn::ScoredRow>& given() const { return given_; }
    const std::vector<nn::ScoredRow>& validation() const { return validation_; }
    const std::vector<nn::ScoredRow>& test() const { return test_; }

  private:
    std::vector<nn::ScoredRow> drawn(std::int64_t step, std::size_t count,
                                     std::uint64_t stream) const;

    SftSettings settings_;
    std::uint64_t seed_;
    Source source_;
    std::vector<nn::ScoredRow> given_, validation_, test_;
};

/// A row of the pools as bytes, its answer scored.
nn::ScoredRow scored(const PoolRow& row);

}  // namespace assay::dr_post_training
