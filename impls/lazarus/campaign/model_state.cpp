#include "impls/lazarus/campaign/model_state.hpp"

#include <algorithm>

namespace assay::lazarus::campaign {

Hash mix(Hash a, Hash b) {  // splitmix64 of the pair
    Hash x = a * 0x9e3779b97f4a7c15ULL + b + 0x632be59bd9b4e019ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

ModelState initial_state(int layers, int experts, Hash seed) {
    ModelState state;
    state.dense = mix(seed, 1);
    for (int layer = 0; layer < layers; ++layer) {
        for (int expert = 0; expert < experts; ++expert)
            state.experts[{layer, expert}] = mix(mix(seed, 2 + layer), expert);
    }
    return state;
}

Hash next_dense(Hash state, const CommittedStep& step) {
    state = mix(state, static_cast<Hash>(step.step));
    for (Worker worker : step.training) state = mix(state, static_cast<Hash>(worker));
    return state;
}

Hash next_expert(Hash state, ExpertId id, const CommittedStep& step) {
    state = next_dense(state, step);
    const Placement& layer = step.holders[static_cast<std::size_t>(id.first)];
    for (std::size_t i = 0; i < layer.size(); ++i) {
        const auto replicas = std::count(layer[i].begin(), layer[i].end(), id.second);
        if (replicas > 0)
            state =
                mix(mix(state, static_cast<Hash>(step.training[i])), static_cast<Hash>(replicas));
    }
    return state;
}

ModelState next_state(const ModelState& state, const CommittedStep& step) {
    ModelState next;
    next.dense = next_dense(state.dense, step);
    for (const auto& [id, hash] : state.experts) next.experts[id] = next_expert(hash, id, step);
    return next;
}

ModelState replay(int layers, int experts, Hash seed, const std::vector<CommittedStep>& lineage) {
    ModelState state = initial_state(layers, experts, seed);
    for (const CommittedStep& step : lineage) state = next_state(state, step);
    return state;
}

std::vector<Loads> routed(int layers, int experts, Hash seed, Step step,
                          const std::vector<Worker>& training) {
    std::vector<Loads> loads(static_cast<std::size_t>(layers));
    for (int layer = 0; layer < layers; ++layer) {
        for (int expert = 0; expert < experts; ++expert) {
            Hash hash = mix(mix(mix(seed, static_cast<Hash>(step)), static_cast<Hash>(layer)),
                            static_cast<Hash>(expert));
            for (Worker worker : training) hash = mix(hash, static_cast<Hash>(worker));
            loads[static_cast<std::size_t>(layer)].push_back(static_cast<Tokens>(hash % 100 + 1));
        }
    }
    return loads;
}

}  // namespace assay::lazarus::campaign
