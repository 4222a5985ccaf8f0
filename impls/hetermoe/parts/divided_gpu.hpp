// Parts of the first GPU that share no multiprocessor (CUDA green contexts), as streams of
// libtorch's.
#pragma once

#include <c10/core/Stream.h>

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/plugin/cuda_plugin.hpp"

namespace assay::hetermoe {

class DividedGpu {
  public:
    /// Throws SampleError (unsupported) where the GPU cannot be divided so.
    explicit DividedGpu(std::span<const int> multiprocessors);
    ~DividedGpu();
    DividedGpu(const DividedGpu&) = delete;
    DividedGpu& operator=(const DividedGpu&) = delete;

    int multiprocessors(std::size_t part) const { return parts_[part].multiprocessors; }
    c10::Stream stream(std::size_t part) const;

  private:
    const AssayKernels& kernels_;
    AssayContext* context_ = nullptr;
    std::vector<AssayPart> parts_;
    AssayDivision* division_ = nullptr;
};

/// Why there is no GPU here that could be divided, or nullopt.
std::optional<std::string> divided_gpu_lacks();

}  // namespace assay::hetermoe
