// A sample of Fig. 10a on a GPU: in the module of tensors.
#include <fmt/format.h>

#include "impls/lazarus/experiments/layers/ranks_on_device.hpp"
#include "impls/nn/accelerator.hpp"
#include "impls/nn/own_stream.hpp"
#include "kernels/plugin/cuda_plugin.hpp"

namespace assay::lazarus {
namespace {

std::optional<std::string> lack() {
    if (const auto reason = nn::gpu_missing())
        return fmt::format("layers on a GPU are not supported here: {}", *reason);
    const kernels::Plugin& plugin = kernels::cuda_plugin();
    return plugin.kernels ? std::nullopt : std::optional(plugin.why_not);
}

void run_on_gpu(const SkewedLayer& even, const SkewedLayer& skewed, Recorder& recorder) {
    if (const auto reason = lack()) throw SampleError(SampleStatus::unsupported, *reason);
    const at::Device gpu(at::kCUDA, 0);
    const nn::OwnStream stream(gpu);
    const kernels::TimedDevice device(kernels::cuda_kernels(), stream.handle());
    const RanksOnDevice at_1_to_1(device, gpu, at::kBFloat16, even);
    const RanksOnDevice at_ratio(device, gpu, at::kBFloat16, skewed);
    compare_layers([&] { return at_1_to_1.forward(); }, [&] { return at_ratio.forward(); },
                   skewed.rows(), recorder);
}

const tensors::Provided provides_lack(gpu_layers_lack, lack);
const tensors::Provided provided(compute_layers_on_gpu, run_on_gpu);

}  // namespace
}  // namespace assay::lazarus
