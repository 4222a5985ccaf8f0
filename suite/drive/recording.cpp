#include "suite/drive/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <istream>

#include "suite/base/error.hpp"
#include "suite/base/json_text.hpp"

namespace assay::drive {

using nlohmann::json;

namespace {

// Not by ==, for which 0.0 is -0.0 and 1 is 1.0; nor by type, since an int that was read is
// unsigned.
bool same_text(const json& a, const json& b) {
    return RecordingLines::text(a) == RecordingLines::text(b);
}

/// What merge_patch() makes `after` of `before`; neither has a field that is null.
json patch(const json& before, const json& after) {
    json changed = json::object();
    for (const auto& [name, value] : after.items()) {
        const auto was = before.find(name);
        if (was != before.end() && was->is_object() && value.is_object()) {
            if (json within = patch(*was, value); !within.empty())
                changed[name] = std::move(within);
        } else if (was == before.end() || !same_text(*was, value)) {
            changed[name] = value;
        }
    }
    for (const auto& [name, value] : before.items())
        if (!after.contains(name)) changed[name] = nullptr;
    return changed;
}

bool is_message(const json& value) {
    return value.is_object() && value.contains("type") && value["type"].is_string();
}

}  // namespace

std::string RecordingLines::text(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string RecordingLines::first(std::string_view policy, json settings) {
    return text({{"format", recording_format},
                 {"policy", policy},
                 {"settings", std::move(settings)}}) +
           '\n';
}

std::string RecordingLines::line(json decision) {
    std::string line = text(patch(before_, decision)) + '\n';
    before_ = std::move(decision);
    return line;
}

RecordingReader::RecordingReader(std::istream& in, std::string_view policy) : in_(in) {
    json first = in_.peek() == std::istream::traits_type::eof() ? json() : line();
    const auto field = [&](const char* name) {
        return first.is_object() ? first.value(name, json()) : json();
    };
    if (!field("format").is_number_integer())
        throw UserError(
            "this is no recording of a policy's decisions: its first line names no format");
    if (field("format") != recording_format)
        throw UserError(
            fmt::format("the recording has format {}, this build reads format {}: replay it with "
                        "the build that "
                        "made it, or run the sample again",
                        field("format").dump(), recording_format));
    if (field("policy") != policy)
        throw UserError(fmt::format("the recording is of the policy {}, not of \"{}\"",
                                    field("policy").dump(), policy));
    settings_ = field("settings");
}

bool RecordingReader::next() {
    if (in_.peek() == std::istream::traits_type::eof()) return false;
    decision_.merge_patch(line());
    const json actions = decision_.value("actions", json());
    if (!decision_.contains("now_s") || !is_message(decision_.value("event", json())) ||
        !actions.is_array() || !std::all_of(actions.begin(), actions.end(), is_message))
        refuse("a decision has now_s, an event and a list of actions, each with its \"type\"");
    return true;
}

json RecordingReader::line() {
    std::string text;
    std::getline(in_, text);
    ++lines_;
    try {
        json object = parse_json(text);
        if (!object.is_object()) refuse("it is not a JSON object; was the recording cut off?");
        return object;
    } catch (const JsonError& error) {
        refuse(
            fmt::format("column {}: {}; was the recording cut off?", error.column, error.what()));
    }
}

void RecordingReader::refuse(const std::string& why) const {
    throw UserError(fmt::format("line {} of the recording: {}", lines_, why));
}

}  // namespace assay::drive
