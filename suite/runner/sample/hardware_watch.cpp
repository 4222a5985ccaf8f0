#include "suite/runner/sample/hardware_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>

#include "suite/measure/hardware/clock_guard.hpp"

namespace assay::runner {
namespace {

/// Ages at which short samples are looked at; then every second.
constexpr double first_looks_s[] = {0.1, 0.3};
constexpr double every_s = 1;

double cpu_time_s(int who) {
    rusage used{};
    ::getrusage(who, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Core-seconds of the runner and of all children that are dead and reaped.
double own_busy_s() { return cpu_time_s(RUSAGE_SELF) + cpu_time_s(RUSAGE_CHILDREN); }

store::HardwareReading for_store(const measure::DeviceReading& reading) {
    store::HardwareReading row;
    row.t_s = reading.t_s;
    row.device = reading.device;
    row.clock_hz = reading.clock_hz;
    row.memory_clock_hz = reading.memory_clock_hz;
    row.temperature_c = reading.temperature_c;
    row.power_w = reading.power_w;
    std::vector<measure::Throttle> all = reading.throttles;
    if (reading.phase != measure::Phase::before)
        for (const measure::Throttle reason : measure::throttles_between(reading))
            all.push_back(reason);
    std::vector<std::string_view> names;
    for (const measure::Throttle reason : all) names.push_back(to_string(reason));
    row.throttle_reasons = fmt::format("{}", fmt::join(names, ","));
    return row;
}

void add_point(store::TimeSeries& curve, double t_s, double value) {
    curve.t_s.push_back(t_s);
    curve.values.push_back(value);
}

}  // namespace

void HardwareWatch::read(double t_s, measure::Phase phase) {
    for (measure::DeviceReading& reading : monitor_.read(t_s, phase))
        readings_.push_back(std::move(reading));
}

void HardwareWatch::begin() {
    readings_.clear();
    own_busy_s_ = own_busy_s();
    others_cores_ = -1;
    read(0, measure::Phase::before);
}

double HardwareWatch::look(double t_s) {
    if (t_s > 0) read(t_s, measure::Phase::during);
    for (const double age : first_looks_s)
        if (age > t_s) return age;
    return t_s + every_s;
}

void HardwareWatch::end(double t_s) {
    read(t_s, measure::Phase::after);
    double busy_s = 0, elapsed_s = 0;
    for (const measure::DeviceReading& reading : readings_) {
        if (reading.phase == measure::Phase::before) continue;
        busy_s += reading.busy_s.value_or(0);
        elapsed_s += reading.elapsed_s.value_or(0);
    }
    if (elapsed_s <= 0) return;
    // The kernel's count of everybody's time is coarse: short samples may seem to exceed it.
    others_cores_ = std::max(0.0, busy_s - (own_busy_s() - own_busy_s_)) / elapsed_s;
}

void HardwareWatch::judge(store::Sample& sample, bool on_gpus) const {
    store::TimeSeries busy{"machine/busy", "cores", {}, {}, {}};
    store::TimeSeries steal{"machine/steal", "cores", {}, {}, {}};
    store::TimeSeries others{"machine/other_processes", "cores", {}, {}, {}};
    for (const measure::DeviceReading& reading : readings_) {
        sample.hardware.push_back(for_store(reading));
        if (reading.phase == measure::Phase::before) continue;
        const double elapsed_s = reading.elapsed_s.value_or(0);
        if (reading.busy_s && elapsed_s > 0)
            add_point(busy, reading.t_s, *reading.busy_s / elapsed_s);
        if (reading.steal_s && elapsed_s > 0)
            add_point(steal, reading.t_s, *reading.steal_s / elapsed_s);
    }
    if (others_cores_ >= 0 && !readings_.empty())
        add_point(others, readings_.back().t_s, others_cores_);
    for (store::TimeSeries* curve : {&busy, &steal, &others})
        if (!curve->values.empty()) sample.series_data.push_back(std::move(*curve));
    if (sample.status != to_string(SampleStatus::ok)) return;
    std::vector<measure::DeviceReading> used = readings_;
    // What happens on GPUs meanwhile is no concern of a sample that uses none.
    if (!on_gpus) std::erase_if(used, [](const auto& reading) { return reading.device != "cpu"; });
    const measure::GuardVerdict verdict =
        measure::guard_clock(used, monitor_.reference_clocks_hz());
    if (!verdict.throttled) return;
    sample.status = to_string(SampleStatus::invalid);
    sample.reason = verdict.reason;
}

}  // namespace assay::runner
