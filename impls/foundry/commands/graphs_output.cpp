#include "impls/foundry/commands/graphs_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "impls/foundry/commands/memory_output.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::foundry {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const ReadyTimes& ready) {
    ordered_json json;
    for_each_field(ready, [&](std::string_view name, double seconds) { json[name] = seconds; });
    return json;
}

struct Spread {
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
    void count(std::int64_t value) {
        least = std::min(least, value);
        most = std::max(most, value);
    }
    std::string text() const {
        if (most < least) return "–";
        return least == most ? fmt::format("{}", least) : fmt::format("{}–{}", least, most);
    }
};

std::string groups_text(const GraphsPlan& plan, std::size_t columns) {
    report::Grid grid{{"template (batch)", "members", "nodes changed", "words changed"}};
    for (const std::size_t of : plan.grouping.templates) {
        Spread nodes, words;
        std::int64_t members = 0;
        for (const Member& member : plan.grouping.members) {
            if (member.of != of) continue;
            ++members;
            nodes.count(member.changed.nodes);
            words.count(member.changed.words);
        }
        grid.push_back({fmt::format("{}", plan.batches[of]), fmt::format("{}", members),
                        nodes.text(), words.text()});
    }
    return report::text_table(grid, columns);
}

std::string ready_text(const ReadyTimes& ready, std::size_t columns) {
    const auto row = [&](std::string name, double seconds) {
        return std::vector<std::string>{
            std::move(name), fmt::format("{:.4g} s", seconds),
            seconds > 0 ? fmt::format("{:.3g}", ready.capture / seconds) : "–"};
    };
    return report::text_table(
        {{"ready after", "", "faster than capture, times"},
         row("capture", ready.capture),
         row("no templates", ready.no_templates),
         row("R1: one executable for a template, updated", ready.r1),
         row("R3 lazy: one for each graph, at its first launch", ready.r3_lazy),
         row("R3 eager: one for each graph, at once", ready.r3_eager)},
        columns);
}

}  // namespace

ordered_json to_json(const GraphsPlan& plan) {
    auto templates = ordered_json::array(), members = ordered_json::array();
    for (const std::size_t of : plan.grouping.templates) templates.push_back(plan.batches[of]);
    for (const Member& member : plan.grouping.members)
        members.push_back({{"batch", plan.batches[member.graph]},
                           {"template", plan.batches[member.of]},
                           {"nodes_changed", member.changed.nodes},
                           {"words_changed", member.changed.words}});
    ordered_json json{{"graphs", plan.batches.size()},
                      {"templates", std::move(templates)},
                      {"members", std::move(members)},
                      {"mixed", plan.grouping.mixed},
                      {"ready_s", plan.ready ? to_json(*plan.ready) : ordered_json()}};
    if (plan.audited) json["audit"] = to_json(std::span<const AuditItem>(*plan.audited));
    return json;
}

std::string to_text(const GraphsPlan& plan, std::size_t columns) {
    std::string text = groups_text(plan, columns);
    std::string says =
        fmt::format("{} graphs, {} templates", plan.batches.size(), plan.grouping.templates.size());
    if (plan.grouping.mixed > 0)
        says += fmt::format(
            "; {} members differ from their template in what an update does not carry over "
            "(--key strong keeps them apart)",
            plan.grouping.mixed);
    text += '\n';
    for (const std::string& line : report::wrapped(says, columns)) text += line + '\n';
    if (plan.ready) text += '\n' + ready_text(*plan.ready, columns);
    if (plan.audited) text += '\n' + to_text(std::span<const AuditItem>(*plan.audited), columns);
    return text;
}

}  // namespace assay::foundry
