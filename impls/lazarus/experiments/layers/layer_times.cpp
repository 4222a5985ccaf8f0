#include "impls/lazarus/experiments/layers/layer_times.hpp"

#include <algorithm>

#include "impls/lazarus/spot/fig9_course.hpp"

namespace assay::lazarus {
namespace {

constexpr int repetitions = 5;

}  // namespace

PhaseTimes slowest_of(std::span<const PhaseTimes> ranks) {
    PhaseTimes slowest;
    for (double PhaseTimes::*const phase :
         {&PhaseTimes::dispatch, &PhaseTimes::experts, &PhaseTimes::combine})
        for (const auto& rank : ranks) slowest.*phase = std::max(slowest.*phase, rank.*phase);
    return slowest;
}

void compare_layers(const std::function<PhaseTimes()>& at_1_to_1,
                    const std::function<PhaseTimes()>& at_ratio, double rows, Recorder& recorder) {
    std::vector<double> relative, layer_s, experts_s;
    for (int i = -1; i < repetitions; ++i) {
        recorder.progress((i + 1.0) / (repetitions + 1), "forward passes");
        const double reference = at_1_to_1().layer();
        const auto times = at_ratio();
        if (i < 0) continue;
        relative.push_back(reference / times.layer());
        layer_s.push_back(times.layer());
        experts_s.push_back(times.experts);
    }
    const LayerFound found(recorder);
    found.relative_throughput(median(relative));
    found.layer_s(median(layer_s));
    found.experts_s(median(experts_s));
    found.tokens_per_s(rows / median(layer_s));
}

}  // namespace assay::lazarus
