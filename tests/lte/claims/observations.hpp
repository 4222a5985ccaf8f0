// LTE's claims, and samples that are made up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
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

/// Of the experiment and at the profile where the claim counts them.
inline std::vector<Observation> seen_for(const Claim& claim, const MadeUp& made,
                                         Profile profile = Profile::small) {
    std::vector<Observation> seen = made.all();
    for (Observation& o : seen) {
        o.experiment = claim.experiment;
        o.profile = profile;
    }
    return seen;
}

/// LTE's claims, as their file has them.
inline const std::vector<Claim>& claims() {
    static const auto read =
        read_claims(std::filesystem::path(ASSAY_TEST_DATASETS) / "claims/lte.toml");
    return read;
}

inline const Claim& claim(std::string_view id) {
    const auto found =
        std::find_if(claims().begin(), claims().end(), [&](const auto& c) { return c.id == id; });
    if (found == claims().end()) throw std::out_of_range(std::string(id));
    return *found;
}

}  // namespace assay::lte
