#include "suite/import_export/google_benchmark_file.hpp"

#include <fmt/format.h>

#include <cmath>

namespace assay {
namespace {

using nlohmann::json;

std::string dumped(const json& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string caches_text(const json& caches) {
    std::string all;
    for (const json& cache : caches) {
        if (!cache.is_object()) continue;
        const auto part = [&](const char* key) {
            return cache.contains(key) ? dumped(cache[key]) : std::string("?");
        };
        all += fmt::format("{}L{} {} {} B shared by {}", all.empty() ? "" : ", ", part("level"),
                           part("type"), part("size"), part("num_sharing"));
    }
    return all;
}

}  // namespace

std::string_view odd_number_word(double value) {
    return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

std::string program_name(std::string_view name) {
    const auto open = name.rfind(" (");
    if (open == name.npos || !name.ends_with(')')) return std::string(name);
    const std::string_view numbers = name.substr(open + 2, name.size() - open - 3);
    const auto of = numbers.find(" of ");
    const auto is_number = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    };
    const bool numbered =
        of != numbers.npos && is_number(numbers.substr(0, of)) && is_number(numbers.substr(of + 4));
    return std::string(numbered ? name.substr(0, open) : name);
}

bool is_benchmark_time(std::string_view experiment, std::string_view metric) {
    return experiment.starts_with(benchmark_prefix) &&
           (metric == "real_time" || metric == "cpu_time");
}

Direction benchmark_direction(std::string_view metric) {
    if (metric == "real_time" || metric == "cpu_time") return Direction::lower;
    return metric.ends_with("_per_second") ? Direction::higher : Direction::none;
}

std::map<std::string, std::string> benchmark_context(const json& description) {
    std::map<std::string, std::string> context;
    for (const char* key : {"num_cpus", "caches", "library_build_type", "cpu", "gpu", "gpus",
                            "cpu_info", "gpu_info", "backends", "machine"}) {
        const auto found = description.find(key);
        if (found == description.end() || found->is_null() || *found == 0) continue;
        const std::string text =
            key == std::string_view("caches") ? caches_text(*found) : dumped(*found);
        if (!text.empty()) context[key] = text;
    }
    return context;
}

}  // namespace assay
