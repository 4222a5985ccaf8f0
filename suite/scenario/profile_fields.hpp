// The numbers of the profiles, listed once: for the readers, the writer, JSON and tables.
#pragma once

#include <span>

#include "suite/scenario/device_profile.hpp"

namespace assay {

/// What a number may be.
enum class ProfileRange { positive, at_least_0, share };

template <class Profile>
struct ProfileField {
    const char* key;
    const char* unit;  ///< empty: a share
    Sourced Profile::*number;
    ProfileRange range;
};

/// In the order of the files.
std::span<const ProfileField<DeviceProfile>> device_fields();
std::span<const ProfileField<ClusterProfile>> cluster_fields();

}  // namespace assay
