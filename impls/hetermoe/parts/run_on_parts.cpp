// A sample of a figure on parts of one GPU, in the module of tensors.
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "impls/hetermoe/experiments/on_parts.hpp"
#include "impls/hetermoe/parts/divided_gpu.hpp"
#include "impls/hetermoe/parts/parts_arms.hpp"
#include "impls/hetermoe/simulated/arm_found.hpp"

namespace assay::hetermoe {
namespace {

constexpr int steps = 3;  // of each plan: the first loads kernels and finds memory

std::vector<int> multiprocessors(const PartsPoint& point, int scale) {
    std::vector<int> wanted(std::size_t(point.parts.attention), scale * point.unit.attention);
    wanted.insert(wanted.end(), std::size_t(point.parts.expert), scale * point.unit.expert);
    return wanted;
}

// The largest parts that the GPU can be divided into, of no more than an H100 surely gives in
// groups of eight: arms of one figure whose parts differ then have the same scale.
std::unique_ptr<DividedGpu> divide(const PartsPoint& point) {
    constexpr int most = 120;
    constexpr std::array scales{8, 6, 4, 2, 1};
    for (const int scale : scales) {
        const std::vector<int> wanted = multiprocessors(point, scale);
        const bool last = scale == scales.back();
        if (!last && std::accumulate(wanted.begin(), wanted.end(), 0) > most) continue;
        try {
            return std::make_unique<DividedGpu>(wanted);
        } catch (const SampleError&) {
            if (last) throw;
        }
    }
    return nullptr;
}

// Mixtral's shape, with a quarter as many heads for keys and values where that divides them.
nn::MoeGptConfig config_of(const PartsPoint& point) {
    nn::MoeGptConfig config;
    config.layers = point.model.layers;
    config.width = point.model.hidden;
    config.heads = static_cast<int>(point.model.heads());
    config.experts = point.model.experts;
    config.top_k = point.model.top_k;
    config.hidden = static_cast<int>(std::lround(point.model.expert_width()));
    config.shape = nn::MoeShape::mixtral;
    config.kv_heads = config.heads % 4 == 0 ? config.heads / 4 : config.heads;
    config.context = point.tokens;
    config.dtype = at::kBFloat16;
    return config;
}

void run(const PartsPoint& point, Arm arm, Recorder& recorder) {
    const auto gpu = divide(point);
    std::vector<Part> parts;
    const auto all = static_cast<std::size_t>(point.parts.attention + point.parts.expert);
    for (std::size_t i = 0; i < all; ++i) {
        const bool fused =
            i < std::size_t(point.parts.attention) ? point.new_fused : point.old_fused;
        parts.push_back(
            {fused ? nn::Attention::fused : nn::Attention::materialised, gpu->stream(i)});
    }
    PartsMeasurement measured = measure_arm(arm, config_of(point), at::Device(at::kCUDA, 0), parts,
                                            point.parts, point.batch, steps);
    // Points of a figure that are divided by unlike numbers compare as the paper's clusters.
    measured.tokens_per_s *= point.groups;
    const ArmFound of_arm(recorder);
    of_arm.fits(true);
    of_arm.record(measured);
    const PartsFound found(recorder);
    found.attention_ratio(measured.attention_ratio);
    found.experts_ratio(measured.experts_ratio);
    const auto part = [&](const char* kind, std::size_t first) {
        found.multiprocessors(gpu->multiprocessors(first), {{"part", std::string(kind)}});
    };
    part("newer", 0);
    part("older", static_cast<std::size_t>(point.parts.attention));
}

const tensors::Provided provided(run_on_parts, run);

}  // namespace
}  // namespace assay::hetermoe
