// Which properties of an environment make two machines the same for comparisons, and which are only
// suspects when a result changes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

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

std::string plain(const nlohmann::json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return fmt::format("{:g}", value.get<double>());
    return value.is_null() ? "" : value.dump();
}

/// "2 × NVIDIA H200 (140 GiB), NVIDIA H100 (80 GiB)"
std::string gpus_text(const nlohmann::json& gpus) {
    std::vector<std::pair<std::string, int>> kinds;
    for (const nlohmann::json& gpu : gpus) {
        const std::string one = fmt::format("{} ({} GiB)", gpu.value("name", "?"),
                                            plain(gpu.value("memory_gib", nlohmann::json())));
        if (!kinds.empty() && kinds.back().first == one)
            ++kinds.back().second;
        else
            kinds.emplace_back(one, 1);
    }
    std::vector<std::string> words;
    for (const auto& [one, n] : kinds)
        words.push_back(n == 1 ? one : fmt::format("{} × {}", n, one));
    return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
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
    result.description["caches"] = nlohmann::json::array();
    for (const Cache& cache : here.caches)
        result.description["caches"].push_back(
            {{"level", cache.level}, {"type", cache.type}, {"bytes", cache.bytes}});
    return result;
}

HardwareFacts hardware_facts(const nlohmann::json& description) {
    HardwareFacts facts;
    if (!description.is_object()) return facts;
    for (const auto& [key, value] : description.items()) {
        if (key == "cpu")
            facts["processor"] = plain(value);
        else if (key == "usable_cores")
            facts["usable cores"] = plain(value);
        else if (key == "cpu_quota")
            facts["quota"] = plain(value) + " cores";
        else if (key == "memory_gib")
            facts["memory"] = plain(value) + " GiB";
        else if (key == "gpus" && value.is_array())
            facts["gpus"] = gpus_text(value);
        else if (key != "os" && key != "caches" && key != "imported")
            facts[key] = plain(value);
    }
    return facts;
}

std::vector<HardwareDifference> hardware_differences(const HardwareFacts& here,
                                                     const HardwareFacts& there) {
    const auto said = [](const HardwareFacts& facts, const std::string& name) {
        const auto found = facts.find(name);
        return found == facts.end() || found->second.empty() ? "none" : found->second;
    };
    HardwareFacts all = here;
    all.insert(there.begin(), there.end());
    std::vector<HardwareDifference> differences;
    for (const auto& [name, value] : all)
        if (std::string a = said(here, name), b = said(there, name); a != b)
            differences.push_back({name, std::move(a), std::move(b)});
    return differences;
}

nlohmann::json suspects(const Environment& here) {
    const BuildInfo build = build_info();
    return {
        {"commit", build.commit},         {"version", build.version},  {"compiler", build.compiler},
        {"build_type", build.build_type}, {"flags", build.flags},      {"torch", build.torch},
        {"host", here.hostname},          {"kernel", here.kernel},     {"libc", here.libc},
        {"driver", here.gpus.driver},     {"governor", here.governor}, {"os", here.os}};
}

}  // namespace assay::measure
