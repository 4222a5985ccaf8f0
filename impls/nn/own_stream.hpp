// A stream of libtorch's that others can share and record.
#pragma once

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>

namespace assay::nn {

/// libtorch's current stream on a GPU, for as long as this lives: one of its own, which can record
/// (the default one cannot). On the CPU: nothing.
class OwnStream {
  public:
    explicit OwnStream(c10::Device device) {
        if (device.is_cpu()) return;
        const c10::impl::VirtualGuardImpl guard(device.type());
        guard.synchronizeDevice(device.index());  // what is there comes from the default stream
        const c10::Stream stream = guard.getNewStream(device);
        handle_ = stream.native_handle();
        guard_.emplace(stream);
    }
    void* handle() const { return handle_; }

  private:
    std::optional<c10::StreamGuard> guard_;
    void* handle_ = nullptr;
};

}  // namespace assay::nn
