// Samples of a training experiment, made up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "suite/claim/claim.hpp"

namespace assay::lte {

class MadeUp {
  public:
    /// Three seeds, which agree but for how good the model is that they start from.
    MadeUp& sample(const std::string& variant, const Case& axes, double sparsity,
                   double perplexity) {
        sample(variant, axes, sparsity, perplexity, 1);
        sample(variant, axes, sparsity, 1.2 * perplexity, 2);
        return sample(variant, axes, sparsity, 0.9 * perplexity, 3);
    }
    MadeUp& sample(const std::string& variant, const Case& axes, double sparsity, double perplexity,
                   std::uint64_t seed) {
        add(variant, axes, "ffn_sparsity", {}, sparsity, seed);
        add(variant, axes, "perplexity", {}, perplexity, seed);
        ++samples_;
        return *this;
    }
    MadeUp& value(const std::string& variant, Case axes, const std::string& metric,
                  const Labels& labels, double value, std::uint64_t seed = 1) {
        add(variant, std::move(axes), metric, labels, value, seed);
        return *this;
    }
    const std::vector<Observation>& all() const { return all_; }

  private:
    void add(const std::string& variant, Case axes, const std::string& metric, const Labels& labels,
             double value, std::uint64_t seed) {
        Observation o;
        o.experiment = "lte/fig6";
        o.variant = variant;
        o.axes = std::move(axes);
        o.provenance = Provenance::measured;
        o.metric = metric;
        o.labels = labels;
        o.value = value;
        o.seed = seed;
        o.sample = std::to_string(samples_);
        all_.push_back(std::move(o));
    }
    std::vector<Observation> all_;
    int samples_ = 0;
};

inline Claim made_up_claim(const std::string& metric, const std::string& of,
                           const std::string& over = "") {
    Claim claim;
    claim.id = "lte/fig6/claim";
    claim.experiment = "lte/fig6";
    claim.metric = metric;
    claim.of.variant = of;
    if (!over.empty()) claim.over = Selector{over, {}};
    return claim;
}

}  // namespace assay::lte
