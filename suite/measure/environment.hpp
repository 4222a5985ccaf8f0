// The machine and its present state, as far as they can change a measurement.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/measure/hardware/nvml.hpp"

namespace assay::measure {

struct Gpu {
    std::string name;  ///< "NVIDIA H200"
    std::uint64_t memory_bytes = 0;
};

/// Asked from NVIDIA's management library at run time. Nothing is linked: a machine without a
/// driver simply has none.
struct Gpus {
    std::vector<Gpu> devices;
    std::string driver;  ///< version; empty without a driver
    std::string reason;  ///< why there are none, when the library is there but does not answer
};

/// `library`: the file to load, named so that a test can put one of its own in its place.
Gpus read_gpus(const char* library = nvml_library());

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
    std::string hostname;  ///< for people only: equal machines differ in it; a suspect
    std::string libc;      ///< "glibc 2.36"
    double load_1m = 0;    ///< load average of the last minute
    Gpus gpus;
};

/// Never fails: what cannot be read stays empty. `root` stands in for "/" in tests (the kernel
/// release, the processors this process may use and the libc always come from the running system).
Environment read_environment(const std::filesystem::path& root = "/");

/// Logical processors that this process may run on; 0: unknown.
int count_usable_processors();

/// Threads that can compute at once: the processors we may use, and no more than we are granted.
int computing_threads(const Environment& environment);

/// What identifies a machine for comparisons.
struct Identity {
    std::string fingerprint;     ///< 16 hex digits over processor, cores, quota, memory and GPUs
    nlohmann::json description;  ///< object; for people, and what the fingerprint was made of
};
Identity identity(const Environment&);

/// What a description says of the hardware, as people call and read it: "usable cores", "2";
/// "gpus", "2 × NVIDIA H200 (140 GiB)". Of an imported one the words of its file: "num_cpus", "4".
using HardwareFacts = std::map<std::string, std::string>;
HardwareFacts hardware_facts(const nlohmann::json& description);

struct HardwareDifference {
    std::string name, here, there;  ///< "none": it has none, or does not tell
};
/// By name.
std::vector<HardwareDifference> hardware_differences(const HardwareFacts& here,
                                                     const HardwareFacts& there);

/// What may change a result without being part of its key: commit, compiler, flags, host, kernel,
/// driver, libraries, governor. A flat object of strings, for naming whatever differs between two
/// sessions.
nlohmann::json suspects(const Environment&);

/// Of the suspects, those of the machine and its software: another program has the same.
inline constexpr std::array machine_suspects{"host", "kernel", "os", "libc", "driver", "governor"};

// Parts of the environment that come from the kernel's files on processors and memory.

std::string read_cpu_model(const std::filesystem::path& root);
int count_processors(const std::filesystem::path& root);
std::vector<Cache> read_caches(const std::filesystem::path& root);
std::uint64_t read_memory_bytes(const std::filesystem::path& root);

/// Cores' worth of time per period, from control groups version 2 or 1; nullopt: unlimited.
std::optional<double> read_cpu_quota(const std::filesystem::path& root);

/// First line of a file, without the line's end; empty if it cannot be read.
std::string first_line(const std::filesystem::path& file);

}  // namespace assay::measure
