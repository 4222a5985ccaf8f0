// Fig. 8, left: latency of one feed-forward block against sparsity.
#include <fmt/format.h>

#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/timing/block_timing.hpp"
#include "kernels/plugin/cuda_plugin.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/metrics.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {
namespace {

enum class WeightType { bf16 = ASSAY_BF16, f16 = ASSAY_F16, f32 = ASSAY_F32 };
ASSAY_NAMES(WeightType, bf16, f16, f32)

struct Fig8 {
    std::string shape;
    WeightType dtype{};
    double sparsity = 0;
    BlockVariant variant{};
    Profile profile{};
    std::uint64_t seed = 0;
};

struct Fig8Found : Metrics {
    using Metrics::Metrics;
    Metric latency_s = varying("latency_s", "s", "of one layer, median over rounds", lower);
    Metric fastest_latency_s =
        varying("fastest_latency_s", "s",
                "of one layer in the fastest round: what noise hides least", lower);
    Metric dense_latency_s =
        varying("dense_latency_s", "s", "of the dense layer in the same rounds", lower);
    Metric speedup =
        varying("speedup", "ratio", "dense over own latency, median over rounds", higher);
    Metric read_share =
        varying("read_share", "share",
                "time of a plain read of as many bytes over latency, in turns over equally large "
                "regions, lower quartiles over rounds; above 1 the sample is invalid",
                higher);
    Metric latency_ratio =
        varying("latency_ratio", "ratio", "own over dense latency, median over rounds", lower);
    Metric read_bandwidth = varying("read_bandwidth", "GB/s",
                                    "of a plain read with the same threads (GPU: of the whole "
                                    "device), median over rounds",
                                    higher);
    Metric best_read_bandwidth =
        varying("best_read_bandwidth", "GB/s", "of the fastest round", higher);
    Metric ffn_sparsity = exact("ffn_sparsity", "share", "of experts left out, as counted");
    Metric working_set_bytes =
        exact("working_set_bytes", "B", "read in one turn through all layers");
};

void run(const Fig8& fig8, Recorder& recorder) {
    BlockSetting setting =
        fig8.profile == Profile::gpu ? gpu_setting(kernels::cuda_kernels()) : cpu_setting();
    setting.rounds = fig8.profile == Profile::toy ? 24 : 200;
    const BlockTimes times = time_block(
        setting, block_shape(fig8.shape), static_cast<AssayType>(fig8.dtype), fig8.variant,
        fig8.sparsity, fig8.seed, [&](double fraction) { recorder.progress(fraction, "rounds"); });
    const Fig8Found found(recorder);
    found.latency_s(times.seconds);
    found.fastest_latency_s(times.fastest_seconds);
    found.dense_latency_s(times.dense_seconds);
    found.speedup(times.speedup);
    found.latency_ratio(times.latency_ratio);
    found.read_share(times.read_share);
    found.read_bandwidth(times.read_bandwidth / 1e9);
    found.best_read_bandwidth(times.best_read_bandwidth / 1e9);
    found.ffn_sparsity(times.sparsity);
    found.working_set_bytes(times.working_set_bytes);
    if (times.read_share > 1)
        throw SampleError(SampleStatus::invalid,
                          fmt::format("the block read {:.2f} times as fast as a plain read of as "
                                      "many bytes, which cannot be: the machine did something else "
                                      "during the reads",
                                      times.read_share));
}

std::vector<ProfilePlan> profiles_of_fig8() {
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.axes = {{"shape", {"llama2-7b"}}, {"dtype", {"bf16"}}};
    toy.rounds = 3;
    toy.seconds_per_sample = 5;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    small.axes = {};
    small.rounds = 5;
    small.seconds_per_sample = 20;
    ProfilePlan gpu = small;
    gpu.profile = Profile::gpu;
    gpu.axes = {{"shape", {"llama2-7b", "gpt2-medium"}}, {"dtype", {"bf16", "f16"}}};
    gpu.timeout_s = 1800;
    return {toy, small, gpu};
}

}  // namespace

Experiment fig8() {
    Declaration<Fig8> fig8(
        {.id = "lte/fig8",
         .title = "Latency of a feed-forward block against sparsity",
         .source = "arXiv 2402.06126v4, section 5.3, Fig. 8 left",
         .says =
             "One token through one layer of the given shape: router, union of active experts, "
             "sparse kernel (lte); the same kernel over all experts without a router (dense); the "
             "active rows copied together first, as indexing in a framework does (index). The "
             "paper measures LLaMA2-7B on one RTX 3090 Ti; here the CPU kernels run on all cores, "
             "at profile gpu the CUDA kernels, over so many layers in turn that no cache holds "
             "what is read. Every sample times the dense block in the same rounds, so that speedup "
             "and latency_ratio are ratios of neighbours, and a plain read of as much memory in "
             "each, so that read_share says how near the kernel comes to what the machine can do. "
             "On a GPU a round is one turn through all layers, recorded once as a graph and timed "
             "by events.",
         .metrics = declared<Fig8Found>(),
         .profiles = profiles_of_fig8(),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "latency_ratio",
                    .x = "sparsity",
                    .panels = {"shape", "dtype"},
                    .x_title = "sparsity",
                    .y_title = "latency over dense"}});
    fig8.axis("shape", &Fig8::shape, "whose layer", {"llama2-7b", "gpt2-medium", "smollm2-135m"});
    fig8.axis("dtype", &Fig8::dtype, "type of the weights");
    fig8.axis("sparsity", &Fig8::sparsity, "share of experts left out", {0, 0.25, 0.5, 0.75, 0.9},
              between(0, 1));
    fig8.variants(&Fig8::variant);
    fig8.given(&Fig8::profile, &SampleSpec::profile);
    fig8.given(&Fig8::seed, &SampleSpec::seed);
    fig8.unsupported([](const Fig8& fig8) -> std::optional<std::string> {
        if (fig8.profile != Profile::gpu || kernels::cuda_plugin().kernels) return std::nullopt;
        return kernels::cuda_plugin().why_not;
    });
    return fig8.runs(run);
}

}  // namespace assay::lte
