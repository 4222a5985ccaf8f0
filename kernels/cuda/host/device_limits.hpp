// What a GPU's clocks allow, for shares of it that say the same on every model.
#pragma once

namespace assay::kernels::cuda {

/// Bytes per second of device memory: two transfers in each of its clocks. clock_khz, bus_bits: as
/// the device's attributes say them. 0: unknown.
constexpr double memory_peak(int clock_khz, int bus_bits) { return 2e3 * clock_khz * bus_bits / 8; }

/// Additions and multiplications of bf16 products with fp32 sums that a multiprocessor's tensor
/// cores begin in a clock, without sparsity (NVIDIA's papers on its architectures); 0: unknown.
constexpr int bf16_operations_per_clock(int major, int minor) {
    if (major == 8 && minor == 0) return 2048;
    if (major == 9 && minor == 0) return 4096;
    if (major == 10) return 8192;
    return 0;
}
/// Such operations per second of all multiprocessors at their highest clock; 0: unknown.
constexpr double bf16_peak(int major, int minor, int multiprocessors, int clock_khz) {
    return 1e3 * clock_khz * multiprocessors * bf16_operations_per_clock(major, minor);
}

}  // namespace assay::kernels::cuda
