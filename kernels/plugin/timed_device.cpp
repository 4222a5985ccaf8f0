#include "kernels/plugin/timed_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "suite/base/error.hpp"

namespace assay::kernels {
namespace {

constexpr std::size_t read_unit = 256 * 1024;  // of read_pass()

}  // namespace

TimedDevice::TimedDevice(const AssayKernels& kernels, void* stream)
    : kernels_(&kernels), context_(kernels.create(0, 0, stream), Destroy{&kernels}) {
    if (!context_)
        throw NotSupportedHere(fmt::format("{}: {}", kernels.name, kernels.last_error(nullptr)));
    if (!kernels.allocate || !kernels.release || !kernels.upload || !kernels.download ||
        !kernels.copy || !kernels.gather || !kernels.read_pass || !kernels.begin_timing ||
        !kernels.end_timing)
        throw NotSupportedHere(fmt::format("{} cannot time its work; build it anew", kernels.name));
}

void TimedDevice::must(AssayStatus status) const {
    if (status != ASSAY_OK)
        throw NotSupportedHere(
            fmt::format("{}: {}", kernels_->name, kernels_->last_error(context_.get())));
}

void TimedDevice::Release::operator()(void* memory) const {
    device->kernels_->release(device->context_.get(), memory);
}

TimedDevice::Memory TimedDevice::allocate(std::size_t bytes) const {
    Memory memory(kernels_->allocate(context_.get(), bytes), Release{this});
    if (!memory)
        throw NotSupportedHere(fmt::format("{} has no {:.1f} GB of memory left", kernels_->name,
                                           static_cast<double>(bytes) / 1e9));
    return memory;
}

TimedDevice::Memory TimedDevice::repeating(std::span<const std::byte> pattern,
                                           std::size_t bytes) const {
    Memory memory = allocate(bytes);
    auto* const begin = static_cast<std::byte*>(memory.get());
    const std::size_t first = std::min(pattern.size(), bytes);
    must(kernels_->upload(context_.get(), begin, pattern.data(), first));
    for (std::size_t filled = first; filled < bytes;) {
        const std::size_t more = std::min(first, bytes - filled);
        must(kernels_->copy(context_.get(), begin + filled, begin, more));
        filled += more;
    }
    return memory;
}

std::function<void()> TimedDevice::repeatable(const std::function<void()>& work) const {
    if (!records()) return work;
    AssayRecording* recording = nullptr;
    must(kernels_->begin_recording(context_.get()));
    try {
        work();
    } catch (...) {  // a stream that keeps recording would refuse everything after
        if (kernels_->end_recording(context_.get(), &recording) == ASSAY_OK)
            kernels_->destroy_recording(context_.get(), recording);
        throw;
    }
    must(kernels_->end_recording(context_.get(), &recording));
    const std::shared_ptr<AssayRecording> owned(recording, [this](AssayRecording* done) {
        kernels_->destroy_recording(context_.get(), done);
    });
    return [this, owned] { must(kernels_->replay(context_.get(), owned.get())); };
}

double TimedDevice::seconds(const std::function<void()>& work) const {
    must(kernels_->begin_timing(context_.get()));
    work();
    double taken = 0;
    must(kernels_->end_timing(context_.get(), &taken));
    return taken;
}

ReadBandwidth::ReadBandwidth(const TimedDevice& device, std::size_t bytes, std::size_t regions)
    : device_(device),
      bytes_(std::max(bytes / read_unit, std::size_t{1}) * read_unit),
      regions_(regions),
      // Pages that were never written may all be the same one.
      memory_(
          device.repeating(std::vector<std::byte>(4 * read_unit, std::byte{1}), bytes_ * regions)) {
    measure();
}

double ReadBandwidth::measure() const {
    const std::byte* const region =
        static_cast<const std::byte*>(memory_.get()) + passes_++ % regions_ * bytes_;
    return static_cast<double>(bytes_) / device_.seconds([&] {
        device_.must(device_.kernels().read_pass(device_.context(), region, bytes_));
    });
}

}  // namespace assay::kernels
