// A back end of the kernels as a device whose work is timed: memory that frees itself, seconds of
// what is put on it, recordings where it has them. The same for CPU and GPU.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "kernels/assay_kernels.h"

namespace assay::kernels {

class TimedDevice {
  public:
    /// stream: of the device, null for one of its own. Throws NotSupportedHere: the back end cannot
    /// be started, or does not time.
    explicit TimedDevice(const AssayKernels& kernels, void* stream = nullptr);

    const AssayKernels& kernels() const { return *kernels_; }
    AssayContext* context() const { return context_.get(); }
    /// Throws NotSupportedHere with the back end's reason unless the call succeeded.
    void must(AssayStatus status) const;

    struct Release {
        const TimedDevice* device;
        void operator()(void* memory) const;
    };
    using Memory = std::unique_ptr<void, Release>;
    /// The device must outlive its memory. Throws NotSupportedHere: there is not as much.
    Memory allocate(std::size_t bytes) const;
    /// Of the size of `values`, with these.
    template <class T>
    Memory holding(std::span<const T> values) const {
        Memory memory = allocate(values.size_bytes());
        must(kernels_->upload(context_.get(), memory.get(), values.data(), values.size_bytes()));
        return memory;
    }
    /// Of `bytes`, with copies of the pattern one after another: random weights
    /// (kernels/cpu/random_weights.hpp) in gigabytes and in a moment.
    Memory repeating(std::span<const std::byte> pattern, std::size_t bytes) const;
    template <class T>
    void fetch(std::span<T> to, const Memory& from) const {
        must(kernels_->download(context_.get(), to.data(), from.get(), to.size_bytes()));
    }

    /// Whether work can be recorded, so that launching its parts takes no time.
    bool records() const { return kernels_->begin_recording != nullptr; }
    /// work() in a form that can be repeated: recorded where that is possible, else work itself.
    /// Run it once before: what is loaded lazily cannot be loaded while recording.
    std::function<void()> repeatable(const std::function<void()>& work) const;

    /// Seconds that the device takes for what work() puts on it.
    double seconds(const std::function<void()>& work) const;

  private:
    struct Destroy {
        const AssayKernels* kernels;
        void operator()(AssayContext* context) const { kernels->destroy(context); }
    };
    const AssayKernels* kernels_;
    std::unique_ptr<AssayContext, Destroy> context_;
};

/// The ceiling that a device's memory sets, measured in the same rounds as what it limits.
class ReadBandwidth {
  public:
    /// Passes over `bytes` (rounded down to 256 KiB, at least that) of memory of its own: over one
    /// of `regions` as large each, in turn. All together they should be far beyond the caches.
    ReadBandwidth(const TimedDevice& device, std::size_t bytes, std::size_t regions = 1);
    /// One pass, in bytes per second.
    double measure() const;

  private:
    const TimedDevice& device_;
    std::size_t bytes_, regions_;
    mutable std::size_t passes_ = 0;
    TimedDevice::Memory memory_;
};

}  // namespace assay::kernels
