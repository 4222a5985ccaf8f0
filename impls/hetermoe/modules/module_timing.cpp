// Times modules on two parts of one GPU: samples of fig2, in the module of tensors.
#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>

#include <array>
#include <chrono>
#include <functional>
#include <vector>

#include "impls/hetermoe/experiments/fig2.hpp"
#include "impls/hetermoe/modules/modules.hpp"
#include "impls/hetermoe/parts/divided_gpu.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::hetermoe {
namespace {

constexpr std::int64_t experts = 8, chosen = 2;  // Mixtral 8x7B's
constexpr int rounds = 5;

using Pass = std::function<void()>;
constexpr std::size_t newer = 0, older = 1;

/// Seconds of both parts, by turns.
struct PartTimes {
    double newer_s = 0, older_s = 0, speedup = 0;
};
PartTimes time_by_turns(const DividedGpu& parts, const Pass& new_pass, const Pass& old_pass) {
    const auto seconds = [&](std::size_t part, const Pass& pass) {
        const c10::Stream stream = parts.stream(part);
        const c10::StreamGuard guard(stream);
        stream.synchronize();
        const auto from = std::chrono::steady_clock::now();
        pass();
        stream.synchronize();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    };
    seconds(newer, new_pass);  // the first pass loads kernels and finds memory
    seconds(older, old_pass);
    std::vector<double> news, olds, ratios;
    for (int round = 0; round < rounds; ++round) {
        news.push_back(seconds(newer, new_pass));
        olds.push_back(seconds(older, old_pass));
        ratios.push_back(olds.back() / news.back());
    }
    return {statistics::median(news), statistics::median(olds), statistics::median(ratios)};
}

PartTimes time_attention(const DividedGpu& parts, std::int64_t tokens,
                         const at::TensorOptions& options) {
    const AttentionModule module = AttentionModule::random(options);
    const at::Tensor x = at::randn({tokens, module.width()}, options), dy = at::randn_like(x);
    at::empty({1}, options).item();  // everything is there before a part begins
    return time_by_turns(
        parts, [&] { attention_pass(module, x, dy, AttentionKind::fused); },
        [&] { attention_pass(module, x, dy, AttentionKind::materialised); });
}

PartTimes time_expert(const DividedGpu& parts, std::int64_t tokens,
                      const at::TensorOptions& options) {
    const ExpertModule module = ExpertModule::random(options);
    const at::Tensor x = at::randn({tokens * chosen / experts, module.gate.size(1)}, options),
                     dy = at::randn_like(x);
    at::empty({1}, options).item();
    const auto pass = [&] { expert_pass(module, x, dy); };
    return time_by_turns(parts, pass, pass);
}

void time_on_parts(const Fig2& fig2, Recorder& recorder) {
    const DividedGpu parts(fig2.pair == GpuPair::a40_v100 ? std::array{40, 32} : std::array{56, 8});
    at::manual_seed(fig2.seed);
    const auto options = at::TensorOptions(at::Device(at::kCUDA, 0)).dtype(at::kBFloat16);
    const auto time = fig2.module == TimedModule::attention ? time_attention : time_expert;
    constexpr std::int64_t k = 1024;
    recorder.progress(0, "4K tokens");
    const PartTimes at_4k = time(parts, 4 * k, options);
    recorder.progress(0.3, "the sequence");
    const PartTimes times = time(parts, fig2.sequence_k * k, options);
    recorder.metric("speedup", times.speedup);
    recorder.metric("against_4k", times.speedup / at_4k.speedup);
    recorder.metric("module_s", times.newer_s, {{"part", std::string("newer")}});
    recorder.metric("module_s", times.older_s, {{"part", std::string("older")}});
    recorder.metric("multiprocessors", parts.multiprocessors(newer),
                    {{"part", std::string("newer")}});
    recorder.metric("multiprocessors", parts.multiprocessors(older),
                    {{"part", std::string("older")}});
}

const tensors::Provided provided_fig2(time_modules, time_on_parts);

}  // namespace
}  // namespace assay::hetermoe
