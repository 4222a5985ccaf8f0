#include "impls/foundry/live/device.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::foundry {

Device::Device(std::shared_ptr<const Driver> driver, int ordinal) : driver_(std::move(driver)) {
    check(*driver_, driver_->cuInit(0), "cuInit");
    int devices = 0;
    check(*driver_, driver_->cuDeviceGetCount(&devices), "cuDeviceGetCount");
    if (ordinal < 0 || ordinal >= devices)
        throw NotSupportedHere(
            fmt::format("GPU {} is not there; the driver sees {}", ordinal, devices));
    check(*driver_, driver_->cuDeviceGet(&device_, ordinal), "cuDeviceGet");
    check(*driver_, driver_->cuDevicePrimaryCtxRetain(&context_, device_),
          "cuDevicePrimaryCtxRetain");
    if (const CUresult result = driver_->cuCtxSetCurrent(context_); result != CUDA_SUCCESS) {
        driver_->cuDevicePrimaryCtxRelease(device_);
        check(*driver_, result, "cuCtxSetCurrent");
    }
}

Device::~Device() {
    driver_->cuCtxSetCurrent(nullptr);
    driver_->cuDevicePrimaryCtxRelease(device_);
}

int Device::attribute(CUdevice_attribute attribute) const {
    int value = 0;
    check(*driver_, driver_->cuDeviceGetAttribute(&value, attribute, device_),
          "cuDeviceGetAttribute");
    return value;
}

Fingerprint Device::fingerprint() const {
    std::array<char, 256> name{};
    check(*driver_, driver_->cuDeviceGetName(name.data(), static_cast<int>(name.size()), device_),
          "cuDeviceGetName");
    int version = 0;
    check(*driver_, driver_->cuDriverGetVersion(&version), "cuDriverGetVersion");
    return {.gpu_chip = std::string(name.data()),
            .sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
            .compute_capability =
                fmt::format("{}.{}", attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                            attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)),
            .driver = fmt::format("{}.{}", version / 1000, version % 1000 / 10)};
}

}  // namespace assay::foundry
