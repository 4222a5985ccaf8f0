#include "impls/decode/requests/request_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "suite/base/error.hpp"
#include "suite/base/json_text.hpp"

namespace assay::decode {
namespace {

using nlohmann::json;

constexpr std::string_view keys =
    "id, ids, prompt, max_tokens, temperature, top_k, top_p, seed, stop, stop_ids, forced_ids, "
    "priority, at_step, cancel_at, prompt_logprobs";

constexpr std::int64_t last_step = std::int64_t{1} << 40;

struct Refusal {
    std::string why;
    std::size_t column = 0;  // 0: of the line as a whole
};

json object_of(const std::string& line) {
    try {
        json object = parse_json(line);
        if (!object.is_object()) throw Refusal{"this is no JSON object; give one request a line"};
        return object;
    } catch (const JsonError& error) {
        throw Refusal{fmt::format("{}; a request is a line of JSON: {{\"id\":\"a\",\"ids\":[1,2]}}",
                                  error.what()),
                      error.column};
    }
}

template <class T>
T whole(const json& value, std::string_view key, T least, T most = std::numeric_limits<T>::max()) {
    const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                                 : value.is_number_integer() &&
                                                       std::in_range<T>(value.get<std::int64_t>());
    if (!fits || value.get<T>() < least || value.get<T>() > most)
        throw Refusal{fmt::format("{} is {}; give a whole number from {} to {}", key, value.dump(),
                                  least, most)};
    return value.get<T>();
}

double number(const json& value, std::string_view key) {
    if (!value.is_number())
        throw Refusal{fmt::format("{} is {}; give a number", key, value.dump())};
    return value.get<double>();
}

std::vector<int> id_list(const json& value, std::string_view key, int vocabulary) {
    if (!value.is_array())
        throw Refusal{fmt::format("{} is no list; give token ids: [1,504,3575]", key)};
    std::vector<int> ids;
    for (const json& each : value) {
        if (!each.is_number_integer() || each < 0 || each >= vocabulary)
            throw Refusal{fmt::format("{}: {} is no token id; the model has 0 to {}", key,
                                      each.dump(), vocabulary - 1)};
        ids.push_back(each.get<int>());
    }
    return ids;
}

const std::string& text(const json& value, std::string_view key) {
    if (!value.is_string() || value.get_ref<const std::string&>().empty())
        throw Refusal{fmt::format("{} is {}; give a text that is not empty", key, value.dump())};
    return value.get_ref<const std::string&>();
}

/// What needs a tokenizer is refused without one.
void expect_tokenizer(const RequestLimits& limits, std::string_view key, std::string_view instead) {
    if (!limits.encode)
        throw Refusal{fmt::format("{}: {}; give {}", key, limits.no_tokenizer, instead)};
}

std::vector<int> encoded(const json& value, const RequestLimits& limits) {
    expect_tokenizer(limits, "prompt", "ids");
    try {
        return limits.encode(text(value, "prompt"));
    } catch (const UserError& error) {
        throw Refusal{fmt::format("prompt: {}", error.what())};
    }
}

/// A text, or a list of them.
std::vector<std::string> stops(const json& value, const RequestLimits& limits) {
    expect_tokenizer(limits, "stop", "stop_ids");
    std::vector<std::string> stops;
    for (const json& each : value.is_array() ? value : json::array({value}))
        stops.push_back(text(each, "stop"));
    return stops;
}

bool truth(const json& value, std::string_view key) {
    if (!value.is_boolean())
        throw Refusal{fmt::format("{} is {}; give true or false", key, value.dump())};
    return value.get<bool>();
}

void read_key(const std::string& key, const json& value, const RequestLimits& limits,
              NamedJob& named) {
    BatchRequest& request = named.job.request;
    if (key == "id") {
        if (!value.is_string() && !value.is_number_integer())
            throw Refusal{fmt::format("id is {}; give a text or a whole number", value.dump())};
        named.id = value.dump();
    } else if (key == "ids") {
        request.prompt = id_list(value, key, limits.vocabulary);
    } else if (key == "prompt") {
        request.prompt = encoded(value, limits);
        named.as_text = true;
    } else if (key == "stop") {
        request.stops = stops(value, limits);
    } else if (key == "max_tokens") {
        request.max_tokens = whole<int>(value, key, 1);
    } else if (key == "temperature") {
        request.sampling.temperature = number(value, key);
        if (!(request.sampling.temperature >= 0))
            throw Refusal{"temperature must be 0 (the likeliest token) or more"};
    } else if (key == "top_k") {
        request.sampling.top_k = whole<int>(value, key, 0);
    } else if (key == "top_p") {
        request.sampling.top_p = number(value, key);
        if (!(request.sampling.top_p > 0 && request.sampling.top_p <= 1))
            throw Refusal{"top_p must be above 0 and at most 1"};
    } else if (key == "seed") {
        request.sampling.seed = whole<std::uint64_t>(value, key, 0);
    } else if (key == "stop_ids") {
        request.stop_ids = id_list(value, key, limits.vocabulary);
    } else if (key == "forced_ids") {
        request.forced_ids = id_list(value, key, limits.vocabulary);
        if (request.forced_ids.empty()) throw Refusal{"forced_ids is empty; give one, or no list"};
    } else if (key == "priority") {
        request.priority = whole<int>(value, key, std::numeric_limits<int>::min());
    } else if (key == "at_step") {
        named.job.at_step = whole<std::int64_t>(value, key, 0, last_step);
    } else if (key == "cancel_at") {
        named.job.cancel_at = whole<std::int64_t>(value, key, 0, last_step);
    } else if (key == "prompt_logprobs") {
        request.prompt_log_probabilities = truth(value, key);
    } else {
        throw Refusal{fmt::format("there is no key {}; there are: {}", json(key).dump(), keys)};
    }
}

NamedJob request_of(const std::string& line, const RequestLimits& limits) {
    NamedJob named;
    BatchRequest& request = named.job.request;
    request.stop_ids = limits.stop_ids;
    const json object = object_of(line);
    if (object.contains("ids") && object.contains("prompt"))
        throw Refusal{"there are ids and a prompt; give one of them"};
    for (const auto& [key, value] : object.items()) read_key(key, value, limits, named);
    if (named.id.empty()) throw Refusal{"the request has no id"};
    if (request.prompt.empty())
        throw Refusal{"ids is missing or empty; give at least one token id, or a prompt"};
    if (request.prompt.size() > static_cast<std::size_t>(limits.context))
        throw Refusal{
            fmt::format("the prompt has {} tokens, more than the context of {}; "
                        "shorten it",
                        request.prompt.size(), limits.context)};
    if (!request.forced_ids.empty())
        request.max_tokens = static_cast<int>(request.forced_ids.size());
    const int least =
        least_blocks(static_cast<int>(request.prompt.size()), request.max_tokens, limits.context);
    if (limits.blocks && *limits.blocks < least)
        throw Refusal{
            fmt::format("the request needs {} blocks of the cache; give --kv-blocks {} "
                        "or more",
                        least, least)};
    return named;
}

}  // namespace

std::vector<NamedJob> read_requests(std::istream& in, const std::string& name,
                                    const RequestLimits& limits) {
    std::vector<NamedJob> jobs;
    std::set<std::string> ids;
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        try {
            jobs.push_back(request_of(line, limits));
            if (!ids.insert(jobs.back().id).second)
                throw Refusal{fmt::format("the id {} came before", jobs.back().id)};
        } catch (const Refusal& refusal) {
            const std::string column = refusal.column > 0 ? fmt::format(":{}", refusal.column) : "";
            throw UserError(fmt::format("{}:{}{}: {}", name, number, column, refusal.why));
        }
    }
    if (in.bad()) throw UserError(name + ": cannot be read to its end");
    if (jobs.empty())
        throw UserError(name + ": no requests; give one a line: {\"id\":\"a\",\"ids\":[1,2]}");
    return jobs;
}

}  // namespace assay::decode
