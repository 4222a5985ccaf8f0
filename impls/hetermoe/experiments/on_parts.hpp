// The figures on the paper's GPUs, measured on parts of one (profile gpu).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "impls/hetermoe/parts/parts_point.hpp"
#include "impls/tensors/part.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::hetermoe {

/// Why no GPU can be divided into parts.
inline const tensors::Part<std::optional<std::string>()> divided_gpu_missing{
    "hetermoe/divided_gpu"};

/// A sample, where parts_lack() says nothing (parts/run_on_parts.cpp).
inline const tensors::Part<void(const PartsPoint&, Arm, Recorder&)> run_on_parts{
    "hetermoe/on_parts", tensors::Needs::processes};

/// Why nothing can be computed on parts of a GPU here.
std::optional<std::string> parts_lack();
/// Why an arm cannot be measured so, here or at all.
std::optional<std::string> parts_lack(Arm arm);

/// What such samples record besides.
struct PartsFound : Metrics {
    using Metrics::Metrics;
    Metric attention_ratio =
        measured("attention_ratio", "ratio",
                 "time on an older part over that on a newer one, forward, both at work at once");
    Metric experts_ratio = measured("experts_ratio", "ratio", "the same of a token's experts");
    Metric multiprocessors = measured("multiprocessors", "count", "of a part", {"part"});

  private:
    Metric measured(std::string name, std::string unit, std::string says,
                    std::vector<std::string> labels = {}) {
        return metric({.name = std::move(name),
                       .unit = std::move(unit),
                       .says = std::move(says),
                       .labels = std::move(labels),
                       .only = {Provenance::measured}});
    }
};

/// Profile gpu with these axes, which has no calibration, of the variants that have such a version.
ProfilePlan parts_profile(std::map<std::string, std::vector<Value>> axes,
                          std::vector<std::string> variants);
/// What is to be said of it.
extern const char* const parts_say;

}  // namespace assay::hetermoe
