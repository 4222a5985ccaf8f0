#include "impls/dr_post_training/commands/plan_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::dr_post_training {
namespace {

using nlohmann::ordered_json;

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
    return value ? ordered_json(*value) : ordered_json();
}

ordered_json to_json(const PlannedGroup& group, const PlanInput& input) {
    auto layers = ordered_json::array();
    for (const std::size_t layer : group.layers) layers.push_back(input.layers[layer].name);
    return {{"layers", layers},
            {"scores", group.scores},
            {"selected", or_null(group.update.selected)},
            {"weights", group.update.weights},
            {"target_weight", group.update.target_weight},
            {"dot", group.closeness.dot},
            {"norm2", group.closeness.norm2},
            {"distance2", or_null(group.closeness.distance2)}};
}

ordered_json to_json(const PlanTotal& total) {
    return {{"dot", total.dot},
            {"norm2", total.norm2},
            {"target_norm2", or_null(total.target_norm2)},
            {"distance2", or_null(total.distance2)},
            {"cosine", or_null(total.cosine)}};
}

ordered_json to_json(const PlannedSource& source, bool numbered) {
    return {{"source", numbered ? ordered_json::parse(source.source) : ordered_json(source.source)},
            {"rows", source.rows},
            {"score", source.score},
            {"kept", or_null(source.kept)},
            {"weight", source.weight}};
}

ordered_json to_json(const ComparedSet& one) {
    return {{"set", to_string(one.set)},
            {"partition", to_string(one.partition)},
            {"dot", one.total.dot},
            {"norm2", one.total.norm2},
            {"distance2", or_null(one.total.distance2)},
            {"gain", or_null(one.gain)},
            {"gain_se", or_null(one.gain_se)}};
}

template <class Items, class Each>
ordered_json list(const Items& items, Each each) {
    auto array = ordered_json::array();
    for (const auto& item : items) array.push_back(each(item));
    return array;
}

std::string text(double value) { return fmt::format("{:.4g}", value); }
std::string text(const std::optional<double>& value) { return value ? text(*value) : "–"; }

std::string sentence(const std::string& words, std::size_t columns) {
    std::string out;
    for (const std::string& line : report::wrapped(words, columns)) out += line + '\n';
    return out;
}

std::string group_name(const PlannedGroup& group, const PlanInput& input) {
    const std::string first = report::printable(input.layers[group.layers.front()].name);
    if (group.layers.size() == 1) return first;
    return fmt::format("{} and {} more", first, group.layers.size() - 1);
}

/// Numbers of rows, or weights.
std::string what_counts(const Update& update) {
    constexpr std::size_t most = 16;
    std::vector<std::string> words;
    if (update.selected) {
        for (const std::size_t row : *update.selected) words.push_back(fmt::format("{}", row));
        if (words.empty()) return "none";
    } else {
        for (const double weight : update.weights) words.push_back(fmt::format("{:.2g}", weight));
    }
    const std::size_t all = words.size();
    if (all > most) {
        words.resize(most);
        words.push_back(fmt::format("… ({})", all));
    }
    return fmt::format("{}", fmt::join(words, " "));
}

std::string groups_text(const Plan& plan, const PlanInput& input, std::size_t columns) {
    const bool rows = selects(plan.request.set);
    report::Grid grid{{"group", rows ? "rows that count" : "weights of rows", "of target", "<u,v>",
                       "|u|", "|u-v|"}};
    const auto numbers = [](double dot, double norm2, const std::optional<double>& distance2) {
        return std::vector<std::string>{text(dot), text(std::sqrt(norm2)),
                                        distance2 ? text(std::sqrt(*distance2)) : std::string("–")};
    };
    for (const PlannedGroup& group : plan.groups) {
        grid.push_back({group_name(group, input), what_counts(group.update),
                        text(group.update.target_weight)});
        for (std::string& cell :
             numbers(group.closeness.dot, group.closeness.norm2, group.closeness.distance2))
            grid.back().push_back(std::move(cell));
    }
    if (plan.groups.size() > 1) {
        grid.push_back({"all", "", ""});
        for (std::string& cell : numbers(plan.total.dot, plan.total.norm2, plan.total.distance2))
            grid.back().push_back(std::move(cell));
    }
    return report::text_table(grid, columns);
}

std::string compared_text(const Plan& plan, std::size_t columns) {
    report::Grid grid{{"partition", "set", "<u,v>", "|u|", "|u-v|", "gain", "± se", ""}};
    for (std::size_t i = 0; i < plan.compared.size(); ++i) {
        const ComparedSet& one = plan.compared[i];
        const auto& distance2 = one.total.distance2;
        grid.push_back({std::string(to_string(one.partition)), std::string(to_string(one.set)),
                        text(one.total.dot), text(std::sqrt(one.total.norm2)),
                        distance2 ? text(std::sqrt(*distance2)) : "–", text(one.gain),
                        text(one.gain_se), plan.recommended == i ? "recommended" : ""});
    }
    return report::text_tables(grid, 2, columns);
}

}  // namespace

ordered_json to_json(const Plan& plan, const PlanInput& input) {
    ordered_json recommended;
    if (plan.recommended) {
        const ComparedSet& best = plan.compared[*plan.recommended];
        recommended = {{"set", to_string(best.set)}, {"partition", to_string(best.partition)}};
    }
    return {{"n", plan.rows},
            {"m", plan.target_rows},
            {"k", plan.request.settings.k},
            {"set", to_string(plan.request.set)},
            {"partition", to_string(plan.request.partition)},
            {"groups",
             list(plan.groups, [&](const PlannedGroup& group) { return to_json(group, input); })},
            {"total", to_json(plan.total)},
            {"sources", list(plan.sources,
                             [&](const PlannedSource& source) {
                                 return to_json(source, input.numbered_sources);
                             })},
            {"compare", list(plan.compared, [](const ComparedSet& one) { return to_json(one); })},
            {"recommended", recommended}};
}

std::string to_text(const Plan& plan, const PlanInput& input, std::size_t columns) {
    const auto many = [](std::size_t count, const char* what) {
        return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
    };
    std::string out = sentence(
        fmt::format("{} of general data, {} of target data, {}; set {}, partition {}{}; rows are "
                    "counted from 0",
                    many(plan.rows, "row"), many(plan.target_rows, "row"),
                    many(input.layers.size(), "layer"), to_string(plan.request.set),
                    to_string(plan.request.partition),
                    selects(plan.request.set) && plan.request.set != SetKind::filter
                        ? fmt::format(", k {}", plan.request.settings.k)
                        : ""),
        columns);
    out += '\n' + groups_text(plan, input, columns);
    out += '\n' + sentence(fmt::format("u is the update, v the mean gradient of the target. Cosine "
                                       "of both over all groups: {}",
                                       text(plan.total.cosine)),
                           columns);
    if (!plan.sources.empty()) {
        report::Grid grid{{"source", "rows", "mean <g,v>", "kept", "simplex weight"}};
        for (const PlannedSource& source : plan.sources)
            grid.push_back({report::printable(source.source), fmt::format("{}", source.rows),
                            text(source.score), text(source.kept), text(source.weight)});
        out += '\n' + report::text_table(grid, columns);
    }
    if (!plan.compared.empty()) {
        out += '\n' + compared_text(plan, columns);
        out += '\n' + sentence(plan.target_rows > 1
                                   ? "gain: along each target row in turn, how far a step of "
                                     "length 1 goes that was made without this row; its mean, and "
                                     "standard error"
                                   : "there is one target row: nothing is left to judge sets by",
                               columns);
    }
    return out;
}

// ---- costs -------------------------------------------------------------------------------------

namespace {

ordered_json to_json(const PerScoring& values) {
    ordered_json object;
    for (const Scoring scoring : scorings)
        object[std::string(to_string(scoring))] = values[static_cast<std::size_t>(scoring)];
    return object;
}

std::string shape_name(const LinearMap& map) {
    return fmt::format("{:.0f}x{:.0f}", map.out, map.in) +
           (map.count > 1 ? fmt::format(" ({:.0f} times)", map.count) : "");
}

}  // namespace

ordered_json to_json(const ScoringCosts& costs) {
    return {{"linears",
             list(costs.maps,
                  [](const LinearCosts& one) {
                      return ordered_json{
                          {"out", static_cast<std::int64_t>(one.map.out)},
                          {"in", static_cast<std::int64_t>(one.map.in)},
                          {"count", static_cast<std::int64_t>(one.map.count)},
                          {"flops", to_json(one.flops)},
                          {"elements", to_json(one.elements)},
                          {"best", one.best ? ordered_json(to_string(*one.best)) : ordered_json()}};
                  })},
            {"total", {{"flops", to_json(costs.flops)}, {"elements", to_json(costs.elements)}}},
            {"crossover_m", costs.crossover_m},
            {"crossover_tokens", costs.crossover_tokens},
            {"overhead_flops", to_json(costs.overhead_flops)}};
}

std::string to_text(const ScoringCosts& costs, const CostSettings& s, std::size_t columns) {
    std::string out = sentence(
        fmt::format("Scoring {:.0f} rows of {:.0f} tokens by {:.0f} target row{}; {:.0f} of them "
                    "kept; compressed to {:.0f}x{:.0f} (not exact)",
                    s.n, s.tokens, s.m, s.m == 1 ? "" : "s", s.k, s.compressed_out,
                    s.compressed_in),
        columns);
    report::Grid grid{{"linear map", "direct", "gip", "pip", "compressed", "best exact"}};
    report::Grid held{{"linear map", "direct", "gip", "pip", "compressed"}};
    const auto add = [](report::Grid& to, const std::string& name, const PerScoring& values,
                        double unit) {
        to.push_back({name});
        for (const double value : values) to.back().push_back(fmt::format("{:.4g}", value / unit));
    };
    constexpr double giga = 1e9, megabytes_of_elements = 1e6 / 4;
    for (const LinearCosts& one : costs.maps) {
        add(grid, shape_name(one.map), one.flops, giga);
        grid.back().push_back(one.best ? std::string(to_string(*one.best)) : "none fits");
        add(held, shape_name(one.map), one.elements, megabytes_of_elements);
    }
    add(grid, "all", costs.flops, giga);
    grid.back().emplace_back("");
    add(held, "most", costs.elements, megabytes_of_elements);
    out += "\nGFLOP, of one map\n" + report::text_table(grid, columns);
    out += "\nMB held while one map is scored, fp32\n" + report::text_table(held, columns);
    report::Grid overhead{{"more FLOPs than a plain step", "direct", "gip", "pip", "compressed"}};
    overhead.push_back({""});
    for (const double share : costs.overhead_flops)
        overhead.back().push_back(fmt::format("{:+.1f}%", 100 * share));
    out += '\n' + report::text_table(overhead, columns);
    out += '\n' + sentence(fmt::format("pip needs fewer FLOPs than gip from {:.3g} target rows on, "
                                       "and holds less than direct below {:.4g} tokens a row. "
                                       "Counted, not measured.",
                                       costs.crossover_m, costs.crossover_tokens),
                           columns);
    return out;
}

}  // namespace assay::dr_post_training
