#include "impls/hetermoe/parts/divided_gpu.hpp"

#include <fmt/format.h>

#include "impls/hetermoe/experiments/on_parts.hpp"
#include "impls/nn/accelerator.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {

DividedGpu::DividedGpu(std::span<const int> multiprocessors) : kernels_(kernels::cuda_kernels()) {
    context_ = kernels_.create(0, 0, nullptr);
    if (context_ == nullptr) throw NotSupportedHere(kernels_.last_error(nullptr));
    for (const int count : multiprocessors) parts_.push_back({count, nullptr});
    if (kernels_.divide(context_, parts_.data(), static_cast<int>(parts_.size()), &division_) !=
        ASSAY_OK) {
        const std::string why = kernels_.last_error(context_);
        kernels_.destroy(context_);
        throw SampleError(SampleStatus::unsupported, why);
    }
}

DividedGpu::~DividedGpu() {
    kernels_.reunite(context_, division_);
    kernels_.destroy(context_);
}

c10::Stream DividedGpu::stream(std::size_t part) const {
    // libtorch knows a stream that it did not make by its address.
    return c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::kCUDA, 0),
                       reinterpret_cast<c10::StreamId>(parts_[part].stream));
}

std::optional<std::string> divided_gpu_lacks() {
    if (const auto reason = nn::gpu_missing())
        return fmt::format("computing on parts of a GPU is not supported here: {}", *reason);
    const kernels::Plugin& plugin = kernels::cuda_plugin();
    return plugin.kernels ? std::nullopt : std::optional(plugin.why_not);
}

namespace {
const tensors::Provided provided_lack(divided_gpu_missing, divided_gpu_lacks);
}

}  // namespace assay::hetermoe
