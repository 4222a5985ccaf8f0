// What the hardware monitor read, summed up by device.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/store/records.hpp"

namespace assay::store {

struct ReadingRange {
    double low = 0, high = 0;
};

struct DeviceReadings {
    std::string device;  ///< "cpu", "gpu0" …
    long readings = 0;
    long throttled = 0;                   ///< readings with a reason
    std::map<std::string, long> reasons;  ///< each reason, and in how many readings
    std::optional<ReadingRange> clock_hz, memory_clock_hz, temperature_c, power_w;
};

/// By device.
std::vector<DeviceReadings> device_readings(std::span<const HardwareReading> readings);

/// Of all samples of a session (whole id), in one pass of the database, which is opened for it.
/// StoreError.
std::vector<DeviceReadings> device_readings(const std::filesystem::path& database,
                                            std::string_view session);

}  // namespace assay::store
