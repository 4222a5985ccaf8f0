// Which properties of an environment make two machines the same for comparisons, and which are only
// suspects when a result changes.
#include <fmt/format.h>

#include <cmath>

#include "suite/measure/build_info.hpp"
#include "suite/measure/environment.hpp"

namespace assay::measure {
namespace {

/// FNV-1a, 64 bit: the fingerprint tells machines apart, it need not resist anyone. It is part of
/// every stored series, so another hash would begin all of them anew.
std::string hash(std::string_view text) {
    std::uint64_t value = 0xcbf29ce484222325u;
    for (const unsigned char byte : text) {
        value ^= byte;
        value *= 0x100000001b3u;
    }
    return fmt::format("{:016x}", value);
}

/// GiB to about one part in eight. The kernel keeps a share of memory that differs between its
/// versions, so the exact amount would make one machine look like two.
double rounded_gib(std::uint64_t bytes) {
    const double gib = static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0);
    if (gib <= 0) return 0;
    const double step = std::exp2(std::floor(std::log2(gib)) - 2);
    return std::round(gib / step) * step;
}

}  // namespace

Identity identity(const Environment& here) {
    nlohmann::json made_of = {{"cpu", here.cpu_model},
                              {"cores", here.cores},
                              {"usable_cores", here.usable_cores},
                              {"memory_gib", rounded_gib(here.memory_bytes)},
                              {"gpus", nlohmann::json::array()}};
    if (here.cpu_quota) made_of["cpu_quota"] = *here.cpu_quota;
    for (const Gpu& gpu : here.gpus.devices)
        made_of["gpus"].push_back(
            {{"name", gpu.name}, {"memory_gib", rounded_gib(gpu.memory_bytes)}});

    Identity result{hash(made_of.dump()), made_of};
    result.description["os"] = here.os;
    result.description["hostname"] = here.hostname;
    result.description["caches"] = nlohmann::json::array();
    for (const Cache& cache : here.caches)
        result.description["caches"].push_back(
            {{"level", cache.level}, {"type", cache.type}, {"bytes", cache.bytes}});
    return result;
}

nlohmann::json suspects(const Environment& here) {
    const BuildInfo build = build_info();
    return {{"commit", build.commit},
            {"version", build.version},
            {"compiler", build.compiler},
            {"build_type", build.build_type},
            {"flags", build.flags},
            {"torch", build.torch},
            {"kernel", here.kernel},
            {"libc", here.libc},
            {"driver", here.gpus.driver},
            {"governor", here.governor},
            {"os", here.os}};
}

}  // namespace assay::measure
