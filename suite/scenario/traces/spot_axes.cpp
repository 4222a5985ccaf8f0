#include "suite/scenario/traces/spot_axes.hpp"

#include <fmt/format.h>

#include "suite/base/error.hpp"

namespace assay {

std::vector<Axis> spot_axes() {
    return {
        {"spot", "availability trace: an id of datasets/traces or a file", {"p3-80min"}, true},
        {"mapping",
         "how the trace's nodes become ours: " + words_of<NodeMapping>(),
         {"delta_clamped"},
         true},
        {"nodes", "workers at most", {std::int64_t{10}}, true},
        {"floor", "delta_clamped: workers at least", {std::int64_t{3}}, true},
        {"minutes", "of the trace", {std::int64_t{80}}, true},
    };
}

MappedTrace nodes_of(const SampleSpec& spec) {
    const auto text = [&](const char* axis) { return to_string(spec.axes.at(axis)); };
    const auto mapping = of_word<NodeMapping>(text("mapping"));
    if (!mapping)
        throw UserError("axis mapping: '" + text("mapping") + "'; known are " +
                        words_of<NodeMapping>());
    const double end_s = 60.0 * double(integer_axis(spec, "minutes", 1, 100000));
    const auto trace = availability_trace(text("spot"));
    if (end_s > trace.duration_s)
        throw UserError(fmt::format("axis minutes: the trace {} lasts {:.0f} minutes", trace.id,
                                    trace.duration_s / 60));
    return map_trace(segment(trace, 0, end_s), *mapping, int(integer_axis(spec, "nodes", 1, 64)),
                     int(integer_axis(spec, "floor", 1, 64)), spec.seed);
}

}  // namespace assay
