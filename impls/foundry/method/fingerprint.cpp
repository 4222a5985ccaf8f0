#include "impls/foundry/method/fingerprint.hpp"

#include <map>

namespace assay::foundry {
namespace {

std::string as_text(const std::string& value) { return value; }
std::string as_text(std::int64_t value) { return std::to_string(value); }

std::map<std::string, std::string> known(const Fingerprint& fingerprint) {
    std::map<std::string, std::string> values;
    for_each_field(fingerprint, [&](std::string_view name, const auto& value) {
        if (value) values.emplace(name, as_text(*value));
    });
    return values;
}

}  // namespace

std::vector<std::string> differences(const Fingerprint& archive, const Fingerprint& here) {
    std::vector<std::string> names;
    const auto now = known(here);
    for (const auto& [name, value] : known(archive)) {
        const auto found = now.find(name);
        if (found == now.end() || found->second != value) names.push_back(name);
    }
    return names;
}

}  // namespace assay::foundry
