// Device and cluster profiles: a ProfileError, or a profile that is the same when it is written and
// read again.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "suite/scenario/device_profile.hpp"

namespace {

template <class Profile>
void check(std::string_view text, Profile (*read)(std::string_view, std::string_view)) {
    Profile profile;
    try {
        profile = read(text, "profile.toml");
    } catch (const assay::ProfileError&) {
        return;
    }
    const Profile again = read(assay::to_toml(profile), "again.toml");
    if (again != profile) std::abort();
    if (to_json(again).dump() != to_json(profile).dump()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check<assay::DeviceProfile>(text, assay::read_device_profile);
    check<assay::ClusterProfile>(text, assay::read_cluster_profile);
    return 0;
}
