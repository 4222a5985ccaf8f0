// What the fake driver's GPU is, and in which ways it departs from the header's words. Given by the
// environment variable ASSAY_FAKE_DRIVER or fake_configure() as an object of JSON, or one by one by
// fake_set():
//
//     {"capability": 80, "bulk_edge_bug": 1, "fail": {"cuMemMap": [3, 2]}}
//
// "fail" makes the third cuMemMap() return CUDA_ERROR_OUT_OF_MEMORY (2).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::foundry::fake {

struct Settings {
    std::string device_name = "NVIDIA H200 (emulated)";
    std::int64_t capability = 90;  ///< compute capability, major * 10 + minor
    std::int64_t multiprocessors = 132;
    std::int64_t driver_version = 13000;
    std::int64_t memory_bytes = std::int64_t{141} << 30;  ///< of the device; backed when touched

    // The virtual clock, which events read. Nothing waits for it.
    std::int64_t kernel_ns = 1000, graph_launch_ns = 5000;

    /// cuGraphAddDependencies gives the first edge's data to all edges of a call
    /// (specification 3.6).
    std::int64_t bulk_edge_bug = 0;
    /// An executable of more than 128 nodes takes so much longer for each node that an update has
    /// changed, in ns; 100 is what was seen (specification 3.9).
    std::int64_t update_penalty_ns = 0;
    /// cuMemAddressReserve does not take the hint.
    std::int64_t reserve_elsewhere = 0;
    /// A kernel's code takes device memory only when its function is first asked for.
    std::int64_t lazy_loading = 0;
    /// cuGraphExecUpdate succeeds though the preferred cluster changed, keeps the old one, and the
    /// next launch hangs.
    std::int64_t keep_preferred_cluster = 0;
    /// The so-many-th cuGraphExecUpdate(), where it succeeds, leaves an executable that hangs: what
    /// keep_preferred_cluster does, for graphs without preferred clusters. 0: none does.
    std::int64_t hang_at_update = 0;
    /// An update of a 1-D memset's size fails, which the header allows.
    std::int64_t refuse_memset_resize = 0;
    /// What hangs ends with CUDA_ERROR_LAUNCH_TIMEOUT when it is waited for; without, never.
    std::int64_t watchdog = 0;
};

/// Every number of Settings, by its name.
struct Setting {
    std::string_view name;
    std::int64_t Settings::*value;
};
#define ASSAY_SETTING(name) \
    Setting { #name, &Settings::name }
inline constexpr std::array settings_table{
    ASSAY_SETTING(capability),
    ASSAY_SETTING(multiprocessors),
    ASSAY_SETTING(driver_version),
    ASSAY_SETTING(memory_bytes),
    ASSAY_SETTING(kernel_ns),
    ASSAY_SETTING(graph_launch_ns),
    ASSAY_SETTING(bulk_edge_bug),
    ASSAY_SETTING(update_penalty_ns),
    ASSAY_SETTING(reserve_elsewhere),
    ASSAY_SETTING(lazy_loading),
    ASSAY_SETTING(keep_preferred_cluster),
    ASSAY_SETTING(hang_at_update),
    ASSAY_SETTING(refuse_memset_resize),
    ASSAY_SETTING(watchdog),
};
#undef ASSAY_SETTING

}  // namespace assay::foundry::fake
