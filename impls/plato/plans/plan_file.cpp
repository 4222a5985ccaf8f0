#include "impls/plato/plans/plan_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <istream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::plato {
namespace {

using nlohmann::json;

// An object of known keys; `where` begins its messages.
class Fields {
  public:
    Fields(const json& object, std::string where, std::initializer_list<std::string_view> keys)
        : object_(object), where_(std::move(where)) {
        if (!object.is_object()) fail("give an object, {\"…\": …}");
        for (const auto& [key, value] : object.items())
            if (std::find(keys.begin(), keys.end(), key) == keys.end())
                fail(fmt::format("unknown key \"{}\"; known are {}", key, fmt::join(keys, ", ")));
    }

    const json& at(const char* key) const {
        const auto found = object_.find(key);
        if (found == object_.end()) fail(fmt::format("\"{}\" is missing", key));
        return *found;
    }
    bool has(const char* key) const { return object_.contains(key); }

    std::int64_t count(const char* key, std::int64_t least) const {
        const json& value = at(key);
        const bool whole = value.is_number_integer() || value.is_number_unsigned();
        // Beyond int64 a number is held as unsigned: compared as such it is too large.
        const bool fits =
            whole && (value.is_number_unsigned() ? value.get<std::uint64_t>() <= most_tokens
                                                 : value.get<std::int64_t>() <= most_tokens);
        if (!fits || value.get<std::int64_t>() < least)
            fail(fmt::format("\"{}\" is {}; give a whole number from {} to {}", key, shown(value),
                             least, most_tokens));
        return value.get<std::int64_t>();
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw UserError(fmt::format("{}: {}", where_, what));
    }

    static std::string shown(const json& value) {
        const auto text = value.dump(-1, ' ', false, json::error_handler_t::replace);
        return text.size() <= 40 ? text : text.substr(0, 37) + "…";
    }

  private:
    const json& object_;
    std::string where_;
};

NodeRecord node_of(const json& object, int number, const std::string& where) {
    const Fields fields(object, fmt::format("{}: node {}", where, number),
                        {"i", "line_tokens", "lead_tokens", "out_tokens", "deps", "text"});
    if (fields.count("i", 0) != number)
        fields.fail(fmt::format("\"i\" is {}; nodes are numbered 1, 2, … as they stand",
                                Fields::shown(fields.at("i"))));
    NodeRecord node{.line_tokens = fields.count("line_tokens", 1),
                    .lead_tokens = fields.count("lead_tokens", 1),
                    .out_tokens = fields.count("out_tokens", 1),
                    .dependencies = {}};
    const json& dependencies = fields.at("deps");
    if (!dependencies.is_array()) fields.fail("\"deps\" must be a list of numbers of nodes");
    for (const json& dependency : dependencies) {
        if (!dependency.is_number_integer() || dependency < 1 || dependency >= number)
            fields.fail(
                fmt::format("\"deps\" has {}; a node depends on such before it, from 1 to {}",
                            Fields::shown(dependency), number - 1));
        node.dependencies.push_back(dependency.get<int>());
    }
    auto& list = node.dependencies;
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    if (fields.has("text") && !fields.at("text").is_null() && !fields.at("text").is_string())
        fields.fail("\"text\" must be text");
    if (fields.has("text") && fields.at("text").is_string())
        node.text = fields.at("text").get<std::string>();
    return node;
}

PlanRecord plan_of(const json& object, const std::string& where) {
    const Fields fields(object, where,
                        {"id", "question_tokens", "static_plan_tokens", "static_node_tokens",
                         "ar_tokens", "seed", "nodes"});
    PlanRecord plan;
    if (!fields.at("id").is_string()) fields.fail("\"id\" must be text");
    plan.id = fields.at("id").get<std::string>();
    plan.question_tokens = fields.count("question_tokens", 0);
    plan.static_plan_tokens = fields.count("static_plan_tokens", 0);
    plan.static_node_tokens = fields.count("static_node_tokens", 0);
    if (fields.has("seed") && !fields.at("seed").is_number_integer())
        fields.fail("\"seed\" must be a whole number");
    const json& nodes = fields.at("nodes");
    if (!nodes.is_array() || nodes.empty() || nodes.size() > most_nodes_of_record)
        fields.fail(fmt::format("\"nodes\" must be a list of 1 to {} nodes", most_nodes_of_record));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        plan.nodes.push_back(node_of(nodes[i], static_cast<int>(i) + 1, where));
        plan.ar_tokens += plan.nodes.back().out_tokens;
    }
    if (fields.has("ar_tokens")) plan.ar_tokens = fields.count("ar_tokens", 1);
    return plan;
}

}  // namespace

std::vector<PlanRecord> read_plans(std::istream& in, const std::string& name) {
    std::vector<PlanRecord> plans;
    std::set<std::string> ids;
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        const std::string where = fmt::format("{}:{}", name, number);
        const json object = json::parse(line, nullptr, false);
        if (object.is_discarded())
            throw UserError(where + ": no JSON object; a plan is one object on a line of its own");
        plans.push_back(plan_of(object, where));
        if (!ids.insert(plans.back().id).second)
            throw UserError(
                fmt::format("{}: the id \"{}\" stands here twice", where, plans.back().id));
    }
    if (plans.empty())
        throw UserError(name +
                        ": no plan; give one JSON object a line "
                        "(`assay plan plato --help` shows one)");
    return plans;
}

}  // namespace assay::plato
