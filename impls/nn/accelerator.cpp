#include "impls/nn/accelerator.hpp"

#include <ATen/Context.h>
#include <dlfcn.h>

namespace assay::nn {
namespace {

std::optional<std::string> load() {
    // Its constructors register the CUDA back end with the part that is linked in.
    if (::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr)
        return std::string("libtorch's GPU part cannot be loaded: ") + ::dlerror();
    if (!at::hasCUDA() || at::detail::getCUDAHooks().deviceCount() == 0)
        return "libtorch finds no usable GPU or driver";
    return std::nullopt;
}

}  // namespace

std::optional<std::string> gpu_missing() {
    static const std::optional<std::string> answer = load();
    return answer;
}

}  // namespace assay::nn
