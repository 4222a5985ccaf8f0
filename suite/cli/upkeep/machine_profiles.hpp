// This machine as a device profile and a cluster profile, measured.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "suite/measure/machine_probe.hpp"
#include "suite/scenario/device_profile.hpp"

namespace assay::cli {

/// One measured quantity, for people.
struct NamedReading {
    std::string name;  ///< of the profile's number
    std::string unit;
    measure::Reading reading;
};

struct MachineProfiles {
    DeviceProfile device;    ///< id "this-machine"
    ClusterProfile cluster;  ///< id "this-machine"; every worker is on this machine
    std::vector<NamedReading> readings;
    double load_1m = 0;  ///< load average before: what else the machine was doing
};

/// Measures; takes seconds to a minute and every core. `tell` hears what comes next, and which of
/// how many. `folder`: on the storage to be measured. `when`: the day, for the sources. Throws
/// std::system_error where the machine refuses something.
MachineProfiles measure_machine(
    const measure::ProbeEffort& effort, const std::filesystem::path& folder,
    const std::string& when,
    const std::function<void(const std::string& what, int done, int all)>& tell);

}  // namespace assay::cli
