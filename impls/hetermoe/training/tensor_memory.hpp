// Exactly how many bytes of tensors are alive: every allocation of libtorch's is reported, none is
// sampled.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace assay::hetermoe {

/// Of the threads that count towards it (Counting), on all devices. Memory allocated before a
/// thread counted and freed since is subtracted.
class TensorMemory final : public c10::MemoryReportingInfoBase {
  public:
    std::int64_t now_bytes() const { return now_; }
    std::int64_t peak_bytes() const { return peak_; }
    void reset_peak() { peak_ = now_.load(); }

    void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t,
                           c10::Device) override {
        const std::int64_t now = now_ += bytes;
        std::int64_t peak = peak_;
        while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
        }
    }
    bool memoryProfilingEnabled() const override { return true; }

    /// This thread, as long as it lives.
    class Counting {
      public:
        explicit Counting(std::shared_ptr<TensorMemory> memory)
            : guard_(c10::DebugInfoKind::PROFILER_STATE, std::move(memory)) {}

      private:
        c10::DebugInfoGuard guard_;
    };

  private:
    std::atomic<std::int64_t> now_{0}, peak_{0};
};

}  // namespace assay::hetermoe
