// A whole sample of Fig. 8, right, on a GPU: in the module of tensors.
#include <fmt/format.h>

#include <cmath>

#include "impls/lte/tensor_functions.hpp"
#include "impls/lte/timing/tensor_decode_timing.hpp"
#include "impls/model/named_models.hpp"
#include "impls/nn/accelerator.hpp"
#include "kernels/plugin/cuda_plugin.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/experiment.hpp"
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
    const nn::DecoderConfig config = model::named_shape(to_string(spec.axes.at("model")));
    TensorDecoding setting;
    setting.kernels = &kernels::cuda_kernels();
    setting.length =
        static_cast<int>(integer_axis(spec, "length", 1, config.context - decoded_tokens));
    setting.rounds = 60;
    recorder.progress(0, "making weights");
    setting.weights = std::make_shared<decode::TensorWeights>(
        decode::random_tensor_weights(config, at::kBFloat16, at::Device(at::kCUDA, 0), spec.seed));
    if (spec.variant == "lte") {
        const double kept = 1 - number_axis(spec, "sparsity");
        setting.active = {static_cast<int>(std::lround(kept * setting.weights->experts())),
                          spec.seed};
    }
    record(time_tensor_decoder(setting,
                               [&](double fraction) { recorder.progress(fraction, "rounds"); }),
           recorder);
}

}  // namespace assay::lte
