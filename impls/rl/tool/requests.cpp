#include "impls/rl/tool/requests.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <istream>
#include <nlohmann/json.hpp>
#include <utility>

#include "suite/base/error.hpp"
#include "suite/base/json_text.hpp"

namespace assay::rl {
namespace {

using nlohmann::json;

constexpr std::int64_t most_tokens = 1'000'000'000'000;

/// Lists and objects by their kind, long texts by their beginning.
std::string shown(const json& value) {
    if (value.is_structured()) return value.is_array() ? "a list" : "an object";
    const auto text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    return text.size() <= 40 ? text : text.substr(0, 37) + "…";
}

/// A value and its place, which costs nothing until an error names it: `standard input: "new",
/// sequence 2, token 3`.
struct Given {
    const json& value;
    std::string_view name;  ///< of the input, of a key, or what an element is: "token"
    const Given* in = nullptr;
    std::size_t number = 0;  ///< of an element, from 1

    std::string where() const {
        if (in == nullptr) return std::string(name);
        if (number > 0) return fmt::format("{}, {} {}", in->where(), name, number);
        return fmt::format("{}{}\"{}\"", in->where(), in->in == nullptr ? ": " : ", ", name);
    }
    [[noreturn]] void refuse(std::string_view why) const {
        throw UserError(fmt::format("{}: {}", where(), why));
    }
    [[noreturn]] void refuse_value(std::string_view instead) const {
        refuse(fmt::format("{} is given; {}", shown(value), instead));
    }

    double real(std::string_view instead) const {
        if (!value.is_number() || !std::isfinite(value.get<double>())) refuse_value(instead);
        return value.get<double>();
    }
    double real_from(double least, std::string_view instead) const {
        const double given = real(instead);
        if (!(given >= least)) refuse_value(instead);
        return given;
    }
    void expect_list(std::string_view instead) const {
        if (!value.is_array()) refuse_value(instead);
    }
    Given element(std::string_view each, std::size_t i) const {
        return {.value = value[i], .name = each, .in = this, .number = i + 1};
    }
    template <Named E>
    E word() const {
        if (value.is_string())
            if (const auto known = of_word<E>(value.get_ref<const std::string&>())) return *known;
        refuse_value("give one of " + words_of<E>());
    }

    // ---- of an object

    /// `form` shows one.
    void expect_object(std::initializer_list<std::string_view> keys, std::string_view form) const {
        if (!value.is_object()) refuse_value(fmt::format("give an object, {}", form));
        for (const auto& [key, ignored] : value.items())
            if (std::find(keys.begin(), keys.end(), key) == keys.end())
                refuse(fmt::format("unknown key {}; known are {}", shown(json(key)),
                                   fmt::join(keys, ", ")));
    }
    bool has(const char* key) const { return value.contains(key) && !value.at(key).is_null(); }
    Given at(const char* key) const {
        if (!has(key)) refuse(fmt::format("\"{}\" is missing", key));
        return {.value = value.at(key), .name = key, .in = this};
    }
};

json json_of(std::string_view text, const std::string& name) {
    if (text.find_first_not_of(" \t\r\n") == text.npos)
        throw UserError(name + ": it is empty; give one JSON object");
    try {
        return parse_json(text);
    } catch (const JsonError& error) {
        throw UserError(fmt::format("{}:{}:{}: {}", name, error.line, error.column, error.what()));
    }
}

// ---- the loss

double log_probability(const Given& given) {
    const double value = given.real("give a log-probability");
    if (value > 0) given.refuse_value("a log-probability is at most 0");
    return value;
}

bool mask_value(const Given& given) {
    if (!given.value.is_number() || (given.value != 0 && given.value != 1))
        given.refuse_value("give 1 for a token that counts, else 0");
    return given.value == 1;
}

/// [[…]…] of one value for each token; `like`: as long as these lists, which stand under "new".
template <class T, class Read>
std::vector<std::vector<T>> lists(const Given& given, const Read& read,
                                  const LossRows::Lists* like = nullptr) {
    constexpr std::string_view form = "give a list for each sequence, [[-0.5,-1.25],[-0.1]]";
    std::vector<std::vector<T>> all;
    given.expect_list(form);
    if (like != nullptr && given.value.size() != like->size())
        given.refuse(fmt::format("{} sequences are given, \"new\" has {}; give as many",
                                 given.value.size(), like->size()));
    for (std::size_t s = 0; s < given.value.size(); ++s) {
        const Given sequence = given.element("sequence", s);
        sequence.expect_list(form);
        const std::size_t tokens = sequence.value.size();
        if (like != nullptr && tokens != (*like)[s].size())
            sequence.refuse(fmt::format("{} tokens are given, \"new\" has {}; give as many", tokens,
                                        (*like)[s].size()));
        auto& values = all.emplace_back();
        for (std::size_t t = 0; t < tokens; ++t)
            values.push_back(read(sequence.element("token", t)));
    }
    return all;
}

bool scores_any(const LossRows& rows) {
    if (rows.scored.empty())
        return std::any_of(rows.now.begin(), rows.now.end(),
                           [](const auto& tokens) { return !tokens.empty(); });
    return std::any_of(rows.scored.begin(), rows.scored.end(), [](const std::vector<bool>& mask) {
        return std::find(mask.begin(), mask.end(), true) != mask.end();
    });
}

LossRows rows_of(const Given& object) {
    LossRows rows;
    rows.now = lists<double>(object.at("new"), log_probability);
    rows.old = lists<double>(object.at("old"), log_probability, &rows.now);
    if (object.has("ref"))
        rows.reference = lists<double>(object.at("ref"), log_probability, &rows.now);
    if (object.has("mask")) rows.scored = lists<bool>(object.at("mask"), mask_value, &rows.now);
    const Given advantages = object.at("advantages");
    advantages.expect_list("give one advantage for each sequence, [1,-0.5]");
    for (std::size_t s = 0; s < advantages.value.size(); ++s)
        rows.advantages.push_back(advantages.element("sequence", s).real("give a number"));
    if (rows.advantages.size() != rows.now.size())
        advantages.refuse(fmt::format("{} are given, \"new\" has {} sequences; give one for each",
                                      rows.advantages.size(), rows.now.size()));
    if (!scores_any(rows))
        object.refuse("no token counts; give one, and 1 for it where there is a \"mask\"");
    return rows;
}

KlPenalty penalty_of(const Given& kl) {
    kl.expect_object({"estimator", "coefficient"}, R"({"estimator":"k3","coefficient":0.01})");
    return {.estimator = kl.at("estimator").word<KlEstimator>(),
            .coefficient = kl.at("coefficient").real_from(0, "give a number from 0")};
}

LossSettings settings_of(const Given& object) {
    LossSettings settings;
    constexpr std::string_view form = "give [LOW,HIGH], as [0.2,0.2]";
    const Given clip = object.at("clip");
    clip.expect_list(form);
    if (clip.value.size() != 2)
        clip.refuse(fmt::format("{} bounds are given; {}", clip.value.size(), form));
    settings.clip_low = clip.element("bound", 0).real_from(0, "give a number from 0");
    settings.clip_high = clip.element("bound", 1).real_from(0, "give a number from 0");
    if (object.has("dual_clip"))
        settings.dual_clip = object.at("dual_clip").real_from(1, "give a number from 1");
    if (object.has("kl")) {
        settings.kl = penalty_of(object.at("kl"));
        if (!object.has("ref"))
            object.refuse("\"kl\" needs \"ref\", the log-probabilities under the reference");
    }
    settings.aggregate = object.at("aggregate").word<Aggregate>();
    if (settings.aggregate == Aggregate::constant && !object.has("max_tokens"))
        object.refuse(
            "the aggregate constant needs \"max_tokens\", the length limit of a response");
    if (object.has("max_tokens")) {
        const Given most = object.at("max_tokens");
        if (!most.value.is_number_integer() || most.value < 1 || most.value > most_tokens)
            most.refuse_value(fmt::format("give a whole number from 1 to {}", most_tokens));
        settings.max_tokens = most.value.get<std::int64_t>();
    }
    return settings;
}

}  // namespace

std::vector<ScoredResponse> read_responses(std::istream& in, const std::string& name,
                                           tasks::Task task, int difficulty) {
    std::vector<ScoredResponse> responses;
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        if (line.find_first_not_of(" \t\r") == line.npos) continue;
        const std::string where = fmt::format("{}:{}", name, number);
        json object;
        try {
            object = parse_json(line);
        } catch (const JsonError& error) {
            throw UserError(
                fmt::format("{}:{}: {}; a response is one JSON object on a line of its "
                            "own",
                            where, error.column, error.what()));
        }
        if (!object.is_object())
            throw UserError(fmt::format("{}: {} is given; give an object, {}", where, shown(object),
                                        R"({"prompt":"1+2=","response":"3"})"));
        const auto text = [&](const char* key) {
            if (!object.contains(key) || !object.at(key).is_string())
                throw UserError(fmt::format("{}: \"{}\" must be there, as a text", where, key));
            return object.at(key).get<std::string>();
        };
        ScoredResponse response{
            .prompt = text("prompt"), .answer = {}, .response = text("response")};
        try {
            response.answer = tasks::answer_to(task, difficulty, response.prompt);
        } catch (const UserError& error) {
            throw UserError(fmt::format("{}: {}", where, error.what()));
        }
        response.reward = tasks::reward(task, response.answer, response.response);
        responses.push_back(std::move(response));
    }
    if (in.bad()) throw UserError(name + ": reading it failed");
    if (responses.empty())
        throw UserError(fmt::format("{}: it has no response; give one JSON object a line, {}", name,
                                    R"({"prompt":"1+2=","response":"3"})"));
    return responses;
}

RewardGroups read_rewards(std::string_view text, const std::string& name) {
    constexpr std::string_view form = "give a list for each group, [[1,0,0.2],[0,1]]";
    const json value = json_of(text, name);
    const Given object{.value = value, .name = name};
    object.expect_object({"rewards", "estimator"}, R"({"rewards":[[1,0]],"estimator":"grpo"})");
    RewardGroups read;
    const Given rewards = object.at("rewards");
    rewards.expect_list(form);
    if (rewards.value.empty()) rewards.refuse("there is no group; give at least one");
    for (std::size_t g = 0; g < rewards.value.size(); ++g) {
        const Given group = rewards.element("group", g);
        group.expect_list(form);
        if (group.value.empty()) group.refuse("it is empty; give at least one reward");
        auto& values = read.rewards.emplace_back();
        for (std::size_t i = 0; i < group.value.size(); ++i)
            values.push_back(group.element("response", i).real("give a number"));
    }
    read.estimator = object.at("estimator").word<Estimator>();
    return read;
}

LossRequest read_loss(std::string_view text, const std::string& name) {
    const json value = json_of(text, name);
    const Given object{.value = value, .name = name};
    object.expect_object({"new", "old", "ref", "mask", "advantages", "clip", "dual_clip", "kl",
                          "aggregate", "max_tokens"},
                         R"({"new":[[-0.5]],"old":[[-0.6]],"advantages":[1],"clip":[0.2,0.2],)"
                         R"("aggregate":"token"})");
    return {.rows = rows_of(object), .settings = settings_of(object)};
}

}  // namespace assay::rl
