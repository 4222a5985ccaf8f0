#include "impls/lte/experiments/fig8b_gpu_run.hpp"

#include <fmt/format.h>

#include <cmath>

#include "impls/lte/experiments/decode_timing.hpp"
#include "impls/lte/named_shapes.hpp"
#include "impls/nn/accelerator.hpp"
#include "kernels/plugin/cuda_plugin.hpp"
#include "suite/experiment/axis_value.hpp"
#include "suite/experiment/error.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {

std::optional<std::string> gpu_decoding_lacks() {
    if (const auto reason = nn::gpu_missing())
        return fmt::format("decoding on a GPU is not supported here: {}", *reason);
    const kernels::Plugin& plugin = kernels::cuda_plugin();
    return plugin.kernels ? std::nullopt : std::optional(plugin.why_not);
}

void run_fig8b_on_gpu(const SampleSpec& spec, Recorder& recorder) {
    if (const auto reason = gpu_decoding_lacks())
        throw SampleError(SampleStatus::unsupported, *reason);
    const nn::DecoderConfig config = named_shape(to_string(spec.axes.at("model")));
    DecodeSetting setting;
    setting.kernels = &kernels::cuda_kernels();
    setting.length = static_cast<int>(integer_axis(spec, "length", 1, config.context - 8));
    setting.rounds = 60;
    recorder.progress(0, "making weights");
    setting.weights = std::make_shared<decode::TensorWeights>(
        decode::random_tensor_weights(config, at::kBFloat16, at::Device(at::kCUDA, 0), spec.seed));
    if (spec.variant == "lte") {
        const double kept = 1 - number_axis(spec, "sparsity");
        setting.drawn = {static_cast<int>(std::lround(kept * setting.weights->experts())),
                         spec.seed};
    }
    const DecodeTimes times =
        time_decoding(setting, [&](double fraction) { recorder.progress(fraction, "rounds"); });
    recorder.metric("latency_s", times.seconds);
    recorder.metric("tokens_per_s", 1 / times.seconds);
    recorder.metric("latency_ratio", times.latency_ratio);
    recorder.metric("latency_saved", 1 - times.latency_ratio);
    recorder.metric("bound_share", times.bound_share);
    recorder.metric("bytes_per_token", times.bytes_per_token);
    recorder.metric("read_bandwidth", times.read_bandwidth / 1e9);
}

}  // namespace assay::lte
