// The state of a model as a campaign keeps it: one 64-bit hash per expert and one for everything
// else. A hash changes with every applied step as a function of all that a real optimizer step
// depends on, so two workers have equal hashes exactly when they went through the same history.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "impls/lazarus/simulated/state_keeper.hpp"

namespace assay::lazarus::campaign {

using Hash = std::uint64_t;

struct ModelState {
    std::map<ExpertId, Hash> experts;
    Hash dense = 0;
    bool operator==(const ModelState&) const = default;
};

Hash mix(Hash a, Hash b);

/// State from the seed, before step 0.
ModelState initial_state(int layers, int experts, Hash seed);
/// One expert's state after a committed step: depends on who trained and who held it.
Hash next_expert(Hash state, ExpertId id, const CommittedStep& step);
Hash next_dense(Hash state, const CommittedStep& step);
/// The whole model after a committed step.
ModelState next_state(const ModelState& state, const CommittedStep& step);
/// The oracle: the lineage replayed with nobody killed.
ModelState replay(int layers, int experts, Hash seed, const std::vector<CommittedStep>& lineage);

/// Global tokens per expert that a step routes, per layer: depends on the step and on who trains.
std::vector<Loads> routed(int layers, int experts, Hash seed, Step step,
                          const std::vector<Worker>& training);

}  // namespace assay::lazarus::campaign
