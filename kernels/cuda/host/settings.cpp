#include "kernels/cuda/host/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace assay::kernels::cuda {
namespace {

constexpr int most_megabytes = 2047;  // bytes of it fit 31 bits

}  // namespace

Device with_settings(Device device, const Environment& environment) {
    const auto replace = [&](int& number, const char* variable, int least, int most) {
        const char* const text = environment(variable);
        if (!text) return;
        const char* const end = text + std::strlen(text);
        int value = 0;
        const auto read = std::from_chars(text, end, value);
        if (read.ec != std::errc{} || read.ptr != end) return;
        number = std::clamp(value, least, most);
    };
    replace(device.prefetch_mb, "ASSAY_CUDA_PREFETCH_MB", 0, most_megabytes);
    replace(device.down_prefetch_mb, "ASSAY_CUDA_DOWN_PREFETCH_MB", 0, most_megabytes);
    replace(device.prefetch_next, "ASSAY_CUDA_PREFETCH_NEXT", 0, 1);
    replace(device.most_warps_of_row, "ASSAY_CUDA_WARPS_OF_ROW", 1, rows_warps);
    replace(device.router_blocks, "ASSAY_CUDA_ROUTER_BLOCKS", 1, rows_blocks_per_multiprocessor(1));
    replace(device.persistent, "ASSAY_CUDA_PERSISTENT", 0, 1);
    const auto refuse = [&](bool& has, const char* variable) {
        int wanted = 1;
        replace(wanted, variable, 0, 1);
        has = has && wanted != 0;
    };
    refuse(device.tensor_cores, "ASSAY_CUDA_TENSOR_CORES");
    refuse(device.warpgroups, "ASSAY_CUDA_WARPGROUPS");
    return device;
}

}  // namespace assay::kernels::cuda
