#include "suite/scenario/profile_fields.hpp"

namespace assay {

std::span<const ProfileField<DeviceProfile>> device_fields() {
    using enum ProfileRange;
    using P = DeviceProfile;
    static constexpr ProfileField<P> fields[] = {
        {"matmul_flops", "FLOP/s", &P::matmul_flops, positive},
        {"matmul_efficiency", "", &P::matmul_efficiency, share},
        {"memory_bytes", "bytes", &P::memory_bytes, positive},
        {"memory_bandwidth", "bytes/s", &P::memory_bandwidth, positive},
        {"memory_efficiency", "", &P::memory_efficiency, share},
        {"launch_s", "s", &P::launch_s, at_least_0},
    };
    return fields;
}

std::span<const ProfileField<ClusterProfile>> cluster_fields() {
    using enum ProfileRange;
    using P = ClusterProfile;
    static constexpr ProfileField<P> fields[] = {
        {"link_bandwidth", "bytes/s", &P::link_bandwidth, positive},
        {"link_efficiency", "", &P::link_efficiency, share},
        {"link_latency_s", "s", &P::link_latency_s, at_least_0},
        {"storage_bandwidth", "bytes/s", &P::storage_bandwidth, positive},
        {"detect_s", "s", &P::detect_s, positive},
        {"regroup_s", "s", &P::regroup_s, positive},
        {"relaunch_s", "s", &P::relaunch_s, positive},
    };
    return fields;
}

}  // namespace assay
