// One GPU, or the fake of one, with its primary context current on the thread that made this.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "impls/foundry/driver/driver_table.hpp"
#include "impls/foundry/method/fingerprint.hpp"

namespace assay::foundry {

class Device {
  public:
    /// Throws DriverError, NotSupportedHere where the driver sees no GPU of that number.
    Device(std::shared_ptr<const Driver> driver, int ordinal = 0);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const Driver& driver() const { return *driver_; }
    CUdevice handle() const { return device_; }
    CUcontext context() const { return context_; }
    /// Chip, multiprocessors, compute capability, driver: what an archive must agree with.
    Fingerprint fingerprint() const;

  private:
    int attribute(CUdevice_attribute attribute) const;

    std::shared_ptr<const Driver> driver_;
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
};

}  // namespace assay::foundry
