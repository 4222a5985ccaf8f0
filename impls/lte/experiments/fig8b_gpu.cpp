// A whole sample of Fig. 8, right, on a GPU: in the module of tensors.
#include <fmt/format.h>

#include <cmath>

#include "impls/lte/experiments/fig8b.hpp"
#include "impls/lte/timing/tensor_decode_timing.hpp"
#include "impls/model/named_models.hpp"
#include "impls/nn/accelerator.hpp"
#include "kernels/plugin/cuda_plugin.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {
namespace {

std::optional<std::string> lacks() {
    if (const auto reason = nn::gpu_missing())
        return fmt::format("decoding on a GPU is not supported here: {}", *reason);
    const kernels::Plugin& plugin = kernels::cuda_plugin();
    return plugin.kernels ? std::nullopt : std::optional(plugin.why_not);
}

void run(const Fig8b& fig8b, Recorder& recorder) {
    if (const auto reason = lacks()) throw SampleError(SampleStatus::unsupported, *reason);
    const nn::DecoderConfig config = model::named_shape(fig8b.model);
    if (const int most = config.context - decoded_tokens; fig8b.length > most)
        throw UserError(fmt::format("axis length needs a whole number from 1 to {}, not '{}'", most,
                                    fig8b.length));
    TensorDecoding setting;
    setting.kernels = &kernels::cuda_kernels();
    setting.length = fig8b.length;
    setting.rounds = 60;
    recorder.progress(0, "making weights");
    setting.weights = std::make_shared<decode::TensorWeights>(
        decode::random_tensor_weights(config, at::kBFloat16, at::Device(at::kCUDA, 0), fig8b.seed));
    if (fig8b.variant == DecodeVariant::lte) {
        const double kept = 1 - fig8b.sparsity;
        setting.active = {static_cast<int>(std::lround(kept * setting.weights->experts())),
                          fig8b.seed};
    }
    record(time_tensor_decoder(setting,
                               [&](double fraction) { recorder.progress(fraction, "rounds"); }),
           DecodeFound(recorder));
}

const tensors::Provided provided_lacks(gpu_decoding_lacks, lacks);
const tensors::Provided provided_decoding(decode_on_gpu, run);

}  // namespace
}  // namespace assay::lte
