#include "impls/lazarus/cost/pipelined_layer.hpp"

#include <algorithm>

namespace assay::lazarus {

PipelinedLayer pipelined_layer(int parts, const LayerPart& part) {
    PipelinedLayer layer{.dispatched = parts * part.there, .computed = 0, .combined = 0};
    double network = layer.dispatched;  // free again
    for (int i = 1; i <= parts; ++i) {
        layer.computed = std::max(layer.computed, i * part.there) + part.experts;
        network = std::max(network, layer.computed) + part.back;
    }
    layer.combined = network;
    return layer;
}

}  // namespace assay::lazarus
