// How much memory libtorch's tensors take on a device while something runs.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>

namespace assay::dr_post_training {

/// From its construction on, counts what this thread allocates and frees on devices of that type,
/// on a GPU in the blocks that libtorch hands out. What a kernel takes for itself, past libtorch's
/// allocator, is not seen.
class MemoryWatch {
  public:
    explicit MemoryWatch(c10::DeviceType type = c10::DeviceType::CPU);
    ~MemoryWatch();
    MemoryWatch(const MemoryWatch&) = delete;
    MemoryWatch& operator=(const MemoryWatch&) = delete;

    std::int64_t peak_bytes() const;  ///< the most there was at a time, above the start
    std::int64_t live_bytes() const;  ///< above the start

  private:
    struct Counts;
    struct Guard;
    std::shared_ptr<Counts> counts_;
    std::unique_ptr<Guard> guard_;
};

}  // namespace assay::dr_post_training
