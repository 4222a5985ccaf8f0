// What a device and a cluster can do, as data with sources: the inputs of the cost model.
// Files: datasets/devices/*.toml, datasets/clusters/*.toml.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/scenario/network/network_shape.hpp"
#include "suite/scenario/sourced.hpp"

namespace assay {

/// What one named operation reaches on a device, where that is known apart from the rest.
struct OperationProfile {
    Sourced efficiency;  ///< the share of its roofline that it reaches, 0 to 1
    Sourced launch_s;    ///< seconds per kernel of it; may be 0
    bool operator==(const OperationProfile&) const = default;
};

/// Whether attention scores stay on the chip (fused kernels, FlashAttention) or go through memory.
enum class AttentionKernels { fused, materialised };
ASSAY_NAMES(AttentionKernels, fused, materialised)

/// Which of both a device has, and where that is known from.
struct AttentionCapability {
    AttentionKernels kernels = AttentionKernels::fused;
    std::string kind, source;  ///< as Sourced has them, but never fitted
    bool operator==(const AttentionCapability&) const = default;
};

struct DeviceProfile {
    std::string id;             ///< "a100"
    std::string says;           ///< "NVIDIA A100 SXM4 40 GB"
    Sourced matmul_flops;       ///< FLOP/s of dense matrix products, 16-bit inputs (CPU: fp32)
    Sourced matmul_efficiency;  ///< the share of it that training reaches, 0 to 1
    Sourced memory_bytes;
    Sourced memory_bandwidth;   ///< bytes/s
    Sourced memory_efficiency;  ///< the share of it that streaming kernels reach, 0 to 1
    Sourced launch_s;           ///< seconds per kernel; may be 0
    std::optional<AttentionCapability> attention;  ///< none: nobody has said
    /// By the operation's name; the efficiencies above price all others.
    std::map<std::string, OperationProfile, std::less<>> operations;
    bool operator==(const DeviceProfile&) const = default;
};

/// Nodes of one kind or several, what connects them, and what recovery costs there.
struct ClusterProfile {
    std::string id;  ///< "lazarus-testbed"
    std::string says;
    std::vector<std::string>
        devices;                ///< device id of worker i; later workers: from the start again
    Sourced link_bandwidth;     ///< bytes/s per network interface and direction
    Sourced link_efficiency;    ///< the share of it that collectives reach, 0 to 1
    Sourced link_latency_s;     ///< per message; may be 0
    Sourced storage_bandwidth;  ///< bytes/s to the checkpoint store, shared by all nodes
    Sourced detect_s;           ///< from a death to the survivors knowing
    Sourced regroup_s;          ///< building the new communicators
    Sourced relaunch_s;         ///< a whole job started anew, without loading state
    /// Without it: a node per worker, each with one link, all on one switch.
    std::optional<NetworkShape> network;
    bool operator==(const ClusterProfile&) const = default;
};

/// A number is { value, kind, source }; every key is required, and `fitted_from` where the kind is
/// fitted; no other is known. Efficiencies are above 0 and at most 1, latency and launch at least
/// 0, all else above 0. What operations reach, [operation.NAME.efficiency] and [….launch_s], and
/// [attention] may be left out.
DeviceProfile read_device_profile(std::string_view toml, std::string_view file_name);
ClusterProfile read_cluster_profile(std::string_view toml, std::string_view file_name);

/// As a file that the reader above reads back to an equal profile.
std::string to_toml(const DeviceProfile&);
std::string to_toml(const ClusterProfile&);

/// The shipped profile of that id, or the file of that name ("…/mine.toml"); "this-machine" is what
/// `assay calibrate machine` wrote. Throws UserError that lists what there is.
DeviceProfile device_profile(const std::string& id_or_file);
ClusterProfile cluster_profile(const std::string& id_or_file);

/// Files of `assay calibrate machine`, in the data folder; they need not exist.
std::filesystem::path this_machine_device_file();
std::filesystem::path this_machine_cluster_file();

/// Every number with kind and source; equal profiles, equal text.
nlohmann::json to_json(const DeviceProfile&);
nlohmann::json to_json(const ClusterProfile&);

/// In the order of the files. What single operations reach is not among them: see operation_fields.
std::span<const ProfileField<DeviceProfile>> device_fields();
std::span<const ProfileField<OperationProfile>> operation_fields();
std::span<const ProfileField<ClusterProfile>> cluster_fields();

}  // namespace assay
