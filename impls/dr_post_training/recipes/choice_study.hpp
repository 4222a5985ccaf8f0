// How maps that choose by themselves differ from each other, and from one choice for all
// (specification, section 4.5). Torch-free.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace assay::dr_post_training {

/// Ranks from 1, equal values share the mean of theirs.
std::vector<double> ranks_of(std::span<const double> values);
/// Spearman's correlation of ranks; 0 where one side does not vary. Equal lengths.
double rank_correlation(std::span<const double> a, std::span<const double> b);
/// |a ∩ b| / |a ∪ b|; 1 for two empty sets.
double jaccard(const std::set<std::size_t>& a, const std::set<std::size_t>& b);

/// What one map saw and chose in a step.
struct MapChoice {
    std::vector<double> scores;  ///< [n]
    std::set<std::size_t> rows;
};

/// Means over steps.
class ChoiceStudy {
  public:
    /// `choices`: "layer0/query" → what it chose; each of k of n rows. One choice for all would
    /// take the k rows of the largest sums of scores, of equal ones the lower.
    void add(const std::map<std::string, MapChoice>& choices);

    std::size_t steps() const { return steps_; }
    struct OfMap {
        double mean_score = 0;   ///< mean magnitude
        double correlation = 0;  ///< of its ranking of rows with that of the sums
        double jaccard = 0;      ///< of its rows with those of one choice for all
    };
    std::map<std::string, OfMap> maps() const;
    double patterns() const;  ///< different selections in a step
    double agreement()
        const;  ///< share of rows that a map has in common with the same one a layer on

    friend void to_json(nlohmann::json&, const ChoiceStudy&);
    friend void from_json(const nlohmann::json&, ChoiceStudy&);

  private:
    std::size_t steps_ = 0;
    std::map<std::string, OfMap> sums_;
    double patterns_ = 0, agreement_ = 0;
};

}  // namespace assay::dr_post_training
