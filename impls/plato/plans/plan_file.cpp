#include "impls/plato/plans/plan_file.hpp"

#include <fmt/format.h>

#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "impls/plato/plans/json_fields.hpp"
#include "suite/base/error.hpp"
#include "suite/base/json_text.hpp"

namespace assay::plato {
namespace {

using nlohmann::json;

std::optional<std::int64_t> count_if_given(const JsonFields& fields, const char* key,
                                           std::int64_t least) {
    if (!fields.has(key)) return std::nullopt;
    return fields.count(key, least, most_tokens);
}

NodeRecord node_of(const json& object, int number, const std::string& where) {
    const JsonFields fields(
        object, fmt::format("{}: node {}", where, number),
        {"i", "line_tokens", "lead_tokens", "out_tokens", "deps", "text", "point_tokens"});
    if (fields.count("i", 0, most_tokens) != number)
        fields.fail(fmt::format("\"i\" is {}; nodes are numbered 1, 2, … as they stand",
                                JsonFields::shown(fields.at("i"))));
    NodeRecord node{.line_tokens = fields.count("line_tokens", 1, most_tokens),
                    .lead_tokens = fields.count("lead_tokens", 1, most_tokens),
                    .out_tokens = fields.count("out_tokens", 1, most_tokens),
                    .dependencies = {}};
    node.dependencies = fields.dependencies("deps", number);
    if (fields.has("text") && !fields.at("text").is_null() && !fields.at("text").is_string())
        fields.fail("\"text\" must be text");
    if (fields.has("text") && fields.at("text").is_string())
        node.text = fields.at("text").get<std::string>();
    node.point_tokens = count_if_given(fields, "point_tokens", 1);
    return node;
}

PlanRecord plan_of(const json& object, const std::string& where) {
    const JsonFields fields(
        object, where,
        {"id", "question_tokens", "static_plan_tokens", "static_node_tokens",
         "static_skeleton_tokens", "static_point_tokens", "ar_tokens", "seed", "nodes"});
    PlanRecord plan;
    plan.id = fields.text("id");
    plan.question_tokens = fields.count("question_tokens", 0, most_tokens);
    plan.static_plan_tokens = fields.count("static_plan_tokens", 0, most_tokens);
    plan.static_node_tokens = fields.count("static_node_tokens", 0, most_tokens);
    plan.static_skeleton_tokens = count_if_given(fields, "static_skeleton_tokens", 0);
    plan.static_point_tokens = count_if_given(fields, "static_point_tokens", 0);
    if (fields.has("seed") && !fields.at("seed").is_number_integer())
        fields.fail("\"seed\" must be a whole number");
    const json& nodes = fields.at("nodes");
    if (!nodes.is_array() || nodes.empty() || nodes.size() > most_nodes_of_record)
        fields.fail(fmt::format("\"nodes\" must be a list of 1 to {} nodes", most_nodes_of_record));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        plan.nodes.push_back(node_of(nodes[i], static_cast<int>(i) + 1, where));
        plan.ar_tokens += plan.nodes.back().out_tokens;
    }
    if (fields.has("ar_tokens")) plan.ar_tokens = fields.count("ar_tokens", 1, most_tokens);
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
        try {
            plans.push_back(plan_of(parse_json(line), where));
        } catch (const JsonError& error) {
            throw UserError(fmt::format("{}:{}: {}; a plan is one JSON object on a line of its own",
                                        where, error.column, error.what()));
        }
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
