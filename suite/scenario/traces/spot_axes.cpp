#include "suite/scenario/traces/spot_axes.hpp"

#include <fmt/format.h>

#include "suite/base/error.hpp"

namespace assay {

Axes<SpotNodes> spot_axes() {
    Axes<SpotNodes> axes;
    axes.axis("spot", &SpotNodes::spot, "availability trace: an id of datasets/traces or a file",
              {"p3-80min"}, or_others);
    axes.axis("mapping", &SpotNodes::mapping,
              "how the trace's nodes become ours: " + words_of<NodeMapping>(),
              {NodeMapping::delta_clamped}, or_others);
    axes.axis("nodes", &SpotNodes::nodes, "workers at most", between(1, 64));
    axes.axis("floor", &SpotNodes::floor, "delta_clamped: workers at least", between(1, 64));
    axes.axis("minutes", &SpotNodes::minutes, "of the trace", between(1, 100'000));
    return axes;
}

MappedTrace nodes_of(const SpotNodes& spot, std::uint64_t seed) {
    const double end_s = 60.0 * double(spot.minutes);
    const auto trace = availability_trace(spot.spot);
    if (end_s > trace.duration_s)
        throw UserError(fmt::format("axis minutes: the trace {} lasts {:.0f} minutes", trace.id,
                                    trace.duration_s / 60));
    return map_trace(segment(trace, 0, end_s), spot.mapping, spot.nodes, spot.floor, seed);
}

}  // namespace assay
