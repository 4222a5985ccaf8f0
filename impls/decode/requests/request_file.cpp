#include "impls/decode/requests/request_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

using nlohmann::json;

constexpr std::string_view keys =
    "id, ids, max_tokens, temperature, top_k, top_p, seed, stop_ids, forced_ids, priority, "
    "at_step, cancel_at, prompt_logprobs";

constexpr int most_levels = 8;  // of lists in lists; none is right, and messages quote them

constexpr std::int64_t last_step = std::int64_t{1} << 40;

struct Refusal {
    std::string why;
};

/// One object; a key that comes twice would otherwise be read once.
json object_of(const std::string& line) {
    std::set<std::string> seen;
    const auto look = [&](int depth, json::parse_event_t event, json& parsed) {
        if (event == json::parse_event_t::key && depth == 1 &&
            !seen.insert(parsed.get<std::string>()).second)
            throw Refusal{fmt::format("the key {} comes twice", parsed.dump())};
        if (depth > most_levels) throw Refusal{"there are lists in lists, too many to be read"};
        return true;
    };
    try {
        json object = json::parse(line, look);
        if (!object.is_object()) throw Refusal{"this is no JSON object; give one request a line"};
        return object;
    } catch (const json::exception&) {
        throw Refusal{"this is no JSON; give one request a line: {\"id\":\"a\",\"ids\":[1,2]}"};
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
    for (const auto& [key, value] : object.items()) read_key(key, value, limits, named);
    if (named.id.empty()) throw Refusal{"the request has no id"};
    if (request.prompt.empty())
        throw Refusal{"ids is missing or empty; give at least one token id"};
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
            throw UserError(fmt::format("{}:{}: {}", name, number, refusal.why));
        }
    }
    if (in.bad()) throw UserError(name + ": cannot be read to its end");
    return jobs;
}

}  // namespace assay::decode
