#include "impls/dr_post_training/timing/memory_watch.hpp"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>

namespace assay::dr_post_training {

// libtorch tells its profiler of every allocation; this takes the profiler's place.
struct MemoryWatch::Counts : c10::MemoryReportingInfoBase {
    explicit Counts(c10::DeviceType type) : type(type) {}
    void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t,
                           c10::Device device) override {
        if (device.type() != type) return;
        live += bytes;
        peak = std::max(peak, live);
    }
    bool memoryProfilingEnabled() const override { return true; }
    c10::DeviceType type;
    std::int64_t live = 0, peak = 0;
};

struct MemoryWatch::Guard {
    explicit Guard(std::shared_ptr<Counts> counts)
        : guard(c10::DebugInfoKind::PROFILER_STATE, std::move(counts)) {}
    c10::DebugInfoGuard guard;
};

MemoryWatch::MemoryWatch(c10::DeviceType type)
    : counts_(std::make_shared<Counts>(type)), guard_(std::make_unique<Guard>(counts_)) {}
MemoryWatch::~MemoryWatch() = default;

std::int64_t MemoryWatch::peak_bytes() const { return counts_->peak; }
std::int64_t MemoryWatch::live_bytes() const { return counts_->live; }

}  // namespace assay::dr_post_training
