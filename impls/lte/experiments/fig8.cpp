// Fig. 8, left: latency of one feed-forward block against sparsity.
#include <fmt/format.h>

#include <map>

#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/timing/block_timing.hpp"
#include "kernels/plugin/cuda_plugin.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {
namespace {

const std::map<std::string, BlockVariant, std::less<>> variants = {
    {"dense", BlockVariant::dense}, {"lte", BlockVariant::lte}, {"index", BlockVariant::index}};
const std::map<std::string, AssayType, std::less<>> types = {
    {"bf16", ASSAY_BF16}, {"f16", ASSAY_F16}, {"f32", ASSAY_F32}};

double sparsity_of(const SampleSpec& spec) {
    const double sparsity = number_axis(spec, "sparsity");
    if (!(sparsity >= 0 && sparsity <= 1))
        throw UserError(fmt::format("sparsity {}: a share from 0 to 1", sparsity));
    return sparsity;
}

void run(const SampleSpec& spec, Recorder& recorder) {
    const BlockShape shape = block_shape(to_string(spec.axes.at("shape")));
    BlockSetting setting =
        spec.profile == Profile::gpu ? gpu_setting(kernels::cuda_kernels()) : cpu_setting();
    setting.rounds = spec.profile == Profile::toy ? 24 : 200;
    const BlockTimes times =
        time_block(setting, shape, types.at(to_string(spec.axes.at("dtype"))),
                   variants.at(spec.variant), sparsity_of(spec), spec.seed,
                   [&](double fraction) { recorder.progress(fraction, "rounds"); });
    recorder.metric("latency_s", times.seconds);
    recorder.metric("fastest_latency_s", times.fastest_seconds);
    recorder.metric("dense_latency_s", times.dense_seconds);
    recorder.metric("speedup", times.speedup);
    recorder.metric("latency_ratio", times.latency_ratio);
    recorder.metric("read_share", times.read_share);
    recorder.metric("read_bandwidth", times.read_bandwidth / 1e9);
    recorder.metric("best_read_bandwidth", times.best_read_bandwidth / 1e9);
    recorder.metric("ffn_sparsity", times.sparsity);
    recorder.metric("working_set_bytes", times.working_set_bytes);
    if (times.read_share > 1)
        throw SampleError(SampleStatus::invalid,
                          fmt::format("the block read {:.2f} times as fast as a plain read of as "
                                      "many bytes, which cannot be: the machine did something else "
                                      "during the reads",
                                      times.read_share));
}

}  // namespace

Experiment fig8() {
    Experiment experiment;
    experiment.id = "lte/fig8";
    experiment.title = "Latency of a feed-forward block against sparsity";
    experiment.source = "arXiv 2402.06126v4, section 5.3, Fig. 8 left";
    experiment.says =
        "One token through one layer of the given shape: router, union of active experts, sparse "
        "kernel (lte); the same kernel over all experts without a router (dense); the active rows "
        "copied together first, as indexing in a framework does (index). The paper measures "
        "LLaMA2-7B on one RTX 3090 Ti; here the CPU kernels run on all cores, at profile gpu the "
        "CUDA kernels, over so many layers in turn that no cache holds what is read. Every sample "
        "times the dense block in the same rounds, so that speedup and latency_ratio are ratios of "
        "neighbours, and a plain read of as much memory in each, so that read_share says how near "
        "the "
        "kernel comes to what the machine can do. On a GPU a round is one turn through all layers, "
        "recorded once as a graph and timed by events.";
    experiment.axes = {
        {"shape", "whose layer", {"llama2-7b", "gpt2-medium", "smollm2-135m"}, false},
        {"dtype", "type of the weights", {"bf16", "f16", "f32"}, false},
        {"sparsity", "share of experts left out", {0.0, 0.25, 0.5, 0.75, 0.9}, true}};
    experiment.variants = {"dense", "lte", "index"};
    experiment.metrics = {
        {"latency_s", "s", "of one layer, median over rounds", Direction::lower, false, {}},
        {"fastest_latency_s",
         "s",
         "of one layer in the fastest round: what noise hides least",
         Direction::lower,
         false,
         {}},
        {"dense_latency_s",
         "s",
         "of the dense layer in the same rounds",
         Direction::lower,
         false,
         {}},
        {"speedup",
         "ratio",
         "dense over own latency, median over rounds",
         Direction::higher,
         false,
         {}},
        {"read_share",
         "share",
         "time of a plain read of as many bytes over latency, in turns over equally large regions, "
         "lower quartiles over rounds; above 1 the sample is invalid",
         Direction::higher,
         false,
         {}},
        {"latency_ratio",
         "ratio",
         "own over dense latency, median over rounds",
         Direction::lower,
         false,
         {}},
        {"read_bandwidth",
         "GB/s",
         "of a plain read with the same threads (GPU: of the whole device), median over rounds",
         Direction::higher,
         false,
         {}},
        {"best_read_bandwidth", "GB/s", "of the fastest round", Direction::higher, false, {}},
        {"ffn_sparsity", "share", "of experts left out, as counted", Direction::none, true, {}},
        {"working_set_bytes",
         "B",
         "read in one turn through all layers",
         Direction::none,
         true,
         {}}};
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
    experiment.profiles = {toy, small, gpu};
    experiment.figure = {Figure::Kind::lines, "latency_ratio",      "sparsity", {"shape", "dtype"},
                         "sparsity",          "latency over dense", false};
    experiment.unsupported = [](const SampleSpec& spec) -> std::optional<std::string> {
        if (spec.profile != Profile::gpu || kernels::cuda_plugin().kernels) return std::nullopt;
        return kernels::cuda_plugin().why_not;
    };
    experiment.validate = [](const SampleSpec& spec) { sparsity_of(spec); };
    experiment.run = run;
    return experiment;
}

}  // namespace assay::lte
