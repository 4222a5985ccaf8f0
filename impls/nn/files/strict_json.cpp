#include "impls/nn/files/strict_json.hpp"

#include <fmt/format.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "impls/nn/files/malformed.hpp"

namespace assay::nn {

nlohmann::json strict_json(std::string_view file, std::string_view text) {
    using Event = nlohmann::json::parse_event_t;
    constexpr std::size_t deepest = 64;
    std::vector<std::unordered_set<std::string>> open;  // keys of the objects (and arrays) around
    const auto check = [&](int, Event event, nlohmann::json& parsed) {
        switch (event) {
            case Event::object_start:
            case Event::array_start:
                if (open.size() == deepest) malformed(file, "JSON nested too deeply");
                open.emplace_back();
                break;
            case Event::object_end:
            case Event::array_end:
                open.pop_back();
                break;
            case Event::key: {
                const auto& key = parsed.get_ref<const std::string&>();
                if (!open.back().insert(key).second)
                    malformed(file, fmt::format("the key {} is given twice", shown(key)));
                break;
            }
            case Event::value:
                break;
        }
        return true;
    };
    try {
        return nlohmann::json::parse(text, check);
    } catch (const nlohmann::json::exception& error) {
        malformed(file, fmt::format("not JSON: {}", error.what()));
    }
}

}  // namespace assay::nn
