#include "suite/experiment/policy_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace assay {
namespace {

using nlohmann::json;

std::string shortened(std::string text, std::size_t most) {
    if (text.size() <= most) return text;
    text.resize(most);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U)) text.pop_back();
    return text + "…";
}

std::string dumped(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// died {"worker":3}
std::string message_text(json message) {
    constexpr std::size_t most = 160;
    const std::string type = message.value("type", "?");
    message.erase("type");
    return message.empty() ? type : type + " " + shortened(dumped(message), most);
}

// holders/0/1/2 is 4, was 3; restore_step is 10, was absent; transfers has also [0,1,2,5]; and 3
// more
std::string changed_fields(const json& was, const json& is) {
    constexpr std::size_t most = 3, most_text = 60;
    const json changes = json::diff(was, is);
    std::string text;
    for (const json& change : changes) {
        if (&change - &changes.front() == most)
            return text + fmt::format("; and {} more", changes.size() - most);
        const json::json_pointer path(change.at("path").get<std::string>());
        const auto shown = [](const json& value) { return shortened(dumped(value), most_text); };
        text += text.empty() ? "" : "; ";
        if (path.back() == "-") {
            text += fmt::format("{} has also {}", path.parent_pointer().to_string().substr(1),
                                shown(change.at("value")));
            continue;
        }
        text += fmt::format("{} is {}, was {}", path.to_string().substr(1),
                            change.contains("value") ? shown(change["value"]) : "absent",
                            was.contains(path) ? shown(was.at(path)) : "absent");
    }
    return text;
}

}  // namespace

std::string explanation(const PolicyReplay::Difference& difference) {
    const json &was = difference.recorded, &is = difference.now;
    std::string text = fmt::format("decision {}, at {:.6g} s, on {}:", difference.decision + 1,
                                   difference.now_s, message_text(difference.event));
    if (difference.threw)
        return text + fmt::format("\n  now the policy throws \"{}\"", *difference.threw);
    const auto [first_was, first_is] = std::mismatch(was.begin(), was.end(), is.begin(), is.end());
    const auto number = first_was - was.begin() + 1;
    const bool both = first_was != was.end() && first_is != is.end();
    const auto action = [](const json& actions, const auto& one) {
        return one == actions.end() ? std::string("nothing") : message_text(*one);
    };
    text += fmt::format("\n  action {} was  {}", number, action(was, first_was));
    text += fmt::format("\n  action {} is   {}", number, action(is, first_is));
    if (both && first_was->value("type", "") == first_is->value("type", ""))
        text += "\n  " + changed_fields(*first_was, *first_is);
    if (was.size() != is.size())
        text += fmt::format("\n  {} actions were taken, {} are now", was.size(), is.size());
    return text;
}

}  // namespace assay
