#include "impls/foundry/toy/decode_settings.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "impls/foundry/toy/device/decode_kernels.hpp"
#include "impls/nn/hashes.hpp"

namespace assay::foundry::toy {

void check(const DecodeSettings& settings) {
    constexpr std::size_t most_doublings = 3;  // a cluster of more than 8 blocks is not portable
    if (std::min({settings.layers, settings.vocabulary, settings.context, settings.cache_blocks,
                  settings.most_rows, settings.ranks}) < 1 ||
        settings.context % block_positions != 0 || settings.cluster_from.size() > most_doublings)
        throw std::logic_error("no decode step is of these settings");
}

StepShape shape_of(const DecodeSettings& settings, int batch) {
    const auto reached = [batch](int from) { return batch >= from; };
    const auto doublings =
        std::count_if(settings.cluster_from.begin(), settings.cluster_from.end(), reached);
    return {settings.split_from && reached(*settings.split_from), 1 << doublings,
            settings.programmatic_from && reached(*settings.programmatic_from)};
}

int nodes_of_step(const DecodeSettings& settings, int batch) {
    constexpr int outside_layers = 6, of_layer = 4;
    const int of_ranks = settings.ranks > 1 ? 2 : 0;
    return outside_layers +
           settings.layers * (of_layer + shape_of(settings, batch).split + of_ranks);
}

int topology_groups(const DecodeSettings& settings, std::span<const int> batches, Key key) {
    std::set<StepShape> shapes;
    for (const int batch : batches) {
        StepShape shape = shape_of(settings, batch);
        if (key == Key::paper) shape.programmatic = false;  // an edge, which this key leaves out
        shapes.insert(shape);
    }
    return static_cast<int>(shapes.size());
}

std::uint64_t weight(const DecodeSettings& settings, int tensor, int i) {
    return nn::counter_hash(
        nn::counter_hash(settings.seed + (static_cast<std::uint64_t>(tensor) << 32)) +
        static_cast<std::uint64_t>(i));
}

}  // namespace assay::foundry::toy
