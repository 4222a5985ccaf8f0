// A sample of a figure on parts of one GPU, in the module of tensors.
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "impls/hetermoe/parts/divided_gpu.hpp"
#include "impls/hetermoe/parts/parts_arms.hpp"
#include "impls/hetermoe/tensor_functions.hpp"

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

}  // namespace

void run_on_parts(const PartsPoint& point, std::string_view arm, Recorder& recorder) {
    if (const auto reason = module_timing_lacks())
        throw SampleError(SampleStatus::unsupported, *reason);
    const auto gpu = divide(point);
    std::vector<Part> parts;
    const auto all = static_cast<std::size_t>(point.parts.attention + point.parts.expert);
    for (std::size_t i = 0; i < all; ++i) {
        const bool fused =
            i < std::size_t(point.parts.attention) ? point.new_fused : point.old_fused;
        parts.push_back(
            {fused ? nn::Attention::fused : nn::Attention::materialised, gpu->stream(i)});
    }
    const PartsMeasurement measured = measure_arm(arm, config_of(point), at::Device(at::kCUDA, 0),
                                                  parts, point.parts, point.batch, steps);
    recorder.metric("fits", 1);
    // Points of a figure that are divided by unlike numbers compare as the paper's clusters.
    recorder.metric("tokens_per_s", point.groups * measured.tokens_per_s);
    if (measured.new_busy) recorder.metric("new_busy", *measured.new_busy);
    if (measured.old_busy) recorder.metric("old_busy", *measured.old_busy);
    recorder.metric("micro_batches", measured.micro_batches);
    recorder.metric("moved", measured.moved);
    recorder.metric("attention_ratio", measured.attention_ratio);
    recorder.metric("experts_ratio", measured.experts_ratio);
    const auto part = [&](const char* kind, std::size_t first) {
        recorder.metric("multiprocessors", gpu->multiprocessors(first),
                        {{"part", std::string(kind)}});
    };
    part("newer", 0);
    part("older", static_cast<std::size_t>(point.parts.attention));
}

}  // namespace assay::hetermoe
