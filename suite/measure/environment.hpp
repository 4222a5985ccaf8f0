// The machine and its present state, as far as they can change a measurement.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/measure/gpus.hpp"

namespace assay::measure {

struct Cache {
    int level = 0;
    std::string type;  ///< "Data", "Instruction", "Unified"
    std::uint64_t bytes = 0;
};

struct Environment {
    std::string cpu_model;  ///< with family, model and stepping: hypervisors shorten the name
    int cores = 0;          ///< logical processors online
    int usable_cores = 0;   ///< those this process may run on
    std::optional<double> cpu_quota;  ///< cores' worth of time granted by the control group
    std::uint64_t memory_bytes = 0;
    std::vector<Cache> caches;  ///< of the first processor
    std::string governor;  ///< frequency governor; empty where there is none (virtual machines)
    std::string os;        ///< "Debian GNU/Linux 12 (bookworm)"
    std::string kernel;    ///< "6.1.0-18-amd64"
    std::string hostname;  ///< for people only; never part of an identity
    std::string libc;      ///< "glibc 2.36"
    double load_1m = 0;    ///< load average of the last minute
    Gpus gpus;
};

/// Never fails: what cannot be read stays empty. `root` stands in for "/" in tests (the kernel
/// release, the processors this process may use and the libc always come from the running system).
Environment read_environment(const std::filesystem::path& root = "/");

/// Logical processors that this process may run on; 0: unknown.
int count_usable_processors();

/// What identifies a machine for comparisons.
struct Identity {
    std::string fingerprint;     ///< 16 hex digits over processor, cores, quota, memory and GPUs
    nlohmann::json description;  ///< object; for people, and what the fingerprint was made of
};
Identity identity(const Environment&);

/// What may change a result without being part of its key: commit, compiler, flags, kernel, driver,
/// libraries, governor. A flat object of strings, for naming whatever differs between two sessions.
nlohmann::json suspects(const Environment&);

}  // namespace assay::measure
