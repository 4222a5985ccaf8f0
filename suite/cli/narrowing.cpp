#include "suite/cli/narrowing.hpp"

#include <fmt/format.h>

#include "suite/experiment/error.hpp"

namespace assay::cli {

void add_axis(const std::string& text, std::map<std::string, std::vector<Value>>& axes) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        throw UserError(
            fmt::format("-a '{}': write AXIS=VALUE,…, for example -a nodes=10,16", text));
    auto& values = axes[text.substr(0, equals)];
    std::string_view rest = std::string_view(text).substr(equals + 1);
    while (true) {
        const auto comma = rest.find(',');
        const std::string_view value = rest.substr(0, comma);
        if (value.empty()) throw UserError(fmt::format("-a '{}': an empty value", text));
        values.push_back(parse_value(value));
        if (comma == std::string_view::npos) return;
        rest.remove_prefix(comma + 1);
    }
}

Profile profile_named(const std::string& name) {
    const auto profile = parse_profile(name);
    if (!profile)
        throw UserError(
            fmt::format("--profile '{}': one of toy, small, gpu, cluster, paper", name));
    return *profile;
}

Provenance mode_named(const std::string& name) {
    const auto mode = parse_provenance(name);
    if (!mode)
        throw UserError(
            fmt::format("--mode '{}': one of exact, measured, emulated, simulated", name));
    return *mode;
}

}  // namespace assay::cli
