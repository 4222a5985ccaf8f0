// How maps that choose by themselves differ from each other, and from one choice for all
// (specification, section 4.5). Torch-free.
#pragma once

#include <concepts>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "suite/drive/describe.hpp"

namespace assay::dr_post_training {

/// Ranks from 1, equal values share the mean of theirs.
std::vector<double> ranks_of(std::span<const double> values);
/// Spearman's correlation of ranks; 0 where one side does not vary. Equal lengths.
double rank_correlation(std::span<const double> a, std::span<const double> b);
/// |a ∩ b| / |a ∪ b|; 1 for two empty sets.
double jaccard(const std::set<std::size_t>& a, const std::set<std::size_t>& b);

/// What one map saw and chose in a step.
struct MapChoice {
    std::vector<double> scores;  ///< [n] as selection ranks them: with the rows' weights
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

    /// It is written and read as part of a training (suite/drive/describe.hpp).
    template <class Value, class Visit>
    requires std::same_as<std::remove_const_t<Value>, ChoiceStudy>
    friend void for_each_field(Value& study, Visit&& visit) {
        visit("steps", study.steps_);
        visit("sums", study.sums_);
        visit("patterns", study.patterns_);
        visit("agreement", study.agreement_);
    }

  private:
    std::size_t steps_ = 0;
    std::map<std::string, OfMap> sums_;
    double patterns_ = 0, agreement_ = 0;
};
ASSAY_ROW(ChoiceStudy::OfMap, mean_score, correlation, jaccard)

}  // namespace assay::dr_post_training
