#include "suite/store/device_readings.hpp"

#include <algorithm>
#include <utility>

#include "suite/store/database.hpp"
#include "suite/store/row_codec.hpp"

namespace assay::store {
namespace {

/// Readings that have the same reasons.
struct Alike {
    std::string reasons;  ///< comma-separated
    long readings = 1;
    std::optional<ReadingRange> clock_hz, memory_clock_hz, temperature_c, power_w;
};

void widen(std::optional<ReadingRange>& range, const std::optional<ReadingRange>& by) {
    if (!by) return;
    range =
        range ? ReadingRange{std::min(range->low, by->low), std::max(range->high, by->high)} : *by;
}

void add(DeviceReadings& device, const Alike& alike) {
    device.readings += alike.readings;
    if (!alike.reasons.empty()) device.throttled += alike.readings;
    std::string_view rest = alike.reasons;
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        std::string_view reason = rest.substr(0, comma);
        while (reason.starts_with(' ')) reason.remove_prefix(1);
        device.reasons[std::string(reason)] += alike.readings;
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    widen(device.clock_hz, alike.clock_hz);
    widen(device.memory_clock_hz, alike.memory_clock_hz);
    widen(device.temperature_c, alike.temperature_c);
    widen(device.power_w, alike.power_w);
}

std::vector<DeviceReadings> listed(std::map<std::string, DeviceReadings> devices) {
    std::vector<DeviceReadings> all;
    for (auto& [name, device] : devices) {
        device.device = name;
        all.push_back(std::move(device));
    }
    return all;
}

std::optional<ReadingRange> at(const std::optional<double>& value) {
    return value ? std::optional(ReadingRange{*value, *value}) : std::nullopt;
}

std::optional<ReadingRange> range_at(const SQLite::Statement& row, int column) {
    const SQLite::Column low = row.getColumn(column), high = row.getColumn(column + 1);
    if (low.isNull()) return std::nullopt;
    return ReadingRange{low.getDouble(), high.getDouble()};
}

}  // namespace

std::vector<DeviceReadings> device_readings(std::span<const HardwareReading> readings) {
    std::map<std::string, DeviceReadings> devices;
    for (const HardwareReading& reading : readings)
        add(devices[reading.device], {.reasons = reading.throttle_reasons,
                                      .clock_hz = at(reading.clock_hz),
                                      .memory_clock_hz = at(reading.memory_clock_hz),
                                      .temperature_c = at(reading.temperature_c),
                                      .power_w = at(reading.power_w)});
    return listed(std::move(devices));
}

std::vector<DeviceReadings> device_readings(const std::filesystem::path& file,
                                            std::string_view session) {
    Database database = Database::open(file, Access::read);
    return database.read("read the hardware readings", [&](SQLite::Database& sql) {
        SQLite::Statement rows(
            sql,
            "SELECT device, throttle_reasons, count(*), min(clock_hz), max(clock_hz), "
            "min(memory_clock_hz), max(memory_clock_hz), min(temperature_c), max(temperature_c), "
            "min(power_w), max(power_w) FROM hardware "
            "WHERE sample IN (SELECT id FROM sample WHERE session = ?) "
            "GROUP BY device, throttle_reasons");
        bind_text(rows, 1, session);
        std::map<std::string, DeviceReadings> devices;
        while (rows.executeStep())
            add(devices[rows.getColumn(0).getString()],
                {.reasons = rows.getColumn(1).getString(),
                 .readings = static_cast<long>(rows.getColumn(2).getInt64()),
                 .clock_hz = range_at(rows, 3),
                 .memory_clock_hz = range_at(rows, 5),
                 .temperature_c = range_at(rows, 7),
                 .power_w = range_at(rows, 9)});
        return listed(std::move(devices));
    });
}

}  // namespace assay::store
