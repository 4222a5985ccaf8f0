// What this machine reaches, found out by trying: matrix products, memory, loopback, storage,
// processes. For device profiles; no benchmark of the systems.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::measure {

/// One quantity, tried several times.
struct Reading {
    std::vector<double> values;  ///< one per repetition, in the order of the trials
    std::string how;             ///< what was done, with sizes: goes into the profile's source
    double median() const;       ///< of an even number: the mean of the two in the middle
    double least() const;
    double most() const;
};

/// How much to try. More is steadier; the profile's numbers are medians.
struct ProbeEffort {
    int repetitions = 7;
    double seconds = 0.25;  ///< of computing, copying or sending per repetition, at least
    std::uint64_t copy_bytes = 256ULL << 20;  ///< of each of the two buffers, all threads together
    std::uint64_t storage_bytes = 128ULL << 20;
    static ProbeEffort quick();  ///< a second or two in all, and less steady
};

// All throw std::system_error when the machine refuses what is asked for.

/// FLOP/s of fp32 matrix products by our own blocked kernel, on `threads` threads at once, each
/// with matrices of its own.
Reading probe_matmul(const ProbeEffort&, int threads);
/// Bytes/s read plus written by copying between two buffers far larger than the caches.
Reading probe_memory(const ProbeEffort&, int threads);
/// Seconds from one thread's send to the other's receipt: half a round trip of one byte over TCP on
/// loopback.
Reading probe_loopback_latency(const ProbeEffort&);
/// Bytes/s of one TCP connection on loopback, one direction.
Reading probe_loopback_bandwidth(const ProbeEffort&);
/// Bytes/s of writing a file into `folder` until it is on the device (fsync); removed afterwards.
Reading probe_storage(const ProbeEffort&, const std::filesystem::path& folder);
/// Seconds from a SIGKILL to the parent knowing of the child's death.
Reading probe_detection(const ProbeEffort&);
/// Seconds to start `command` (a path and arguments) as a process of its own and see it end.
Reading probe_start(const ProbeEffort&, std::span<const std::string> command);

/// Calls round(thread) on every thread again and again until `seconds` have passed; nobody begins
/// before all are there. Returns rounds of all threads together per second, from the common start
/// to the last thread's end.
double rounds_per_second(int threads, double seconds, const std::function<void(int thread)>& round);

// A plain blocked fp32 matrix product: what this machine's processors reach without a library.

/// n must be a positive multiple of this.
constexpr int blocked_matmul_step = 48;

/// c += a · b; square, row-major, n × n; 32-bit floats. Uses the widest vectors this processor has.
/// std::invalid_argument for an n that is no multiple of blocked_matmul_step.
void blocked_matmul(const float* a, const float* b, float* c, int n);

/// The vectors it uses here: "AVX-512", "AVX2 and FMA" or "baseline vectors".
std::string_view blocked_matmul_vectors();

}  // namespace assay::measure
