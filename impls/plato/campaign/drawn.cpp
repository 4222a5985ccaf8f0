#include "impls/plato/campaign/drawn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::plato {

PlanRecord draw_plan(Dice& dice, int number, const PlanBounds& bounds) {
    PlanRecord plan{.id = std::to_string(number),
                    .question_tokens = dice.between(1, bounds.question),
                    .static_plan_tokens = dice.between(0, bounds.instruction),
                    .static_node_tokens = dice.between(0, bounds.instruction),
                    .nodes = {}};
    const auto nodes = dice.between(1, bounds.nodes);
    for (int i = 1; i <= nodes; ++i) {
        NodeRecord node{.line_tokens = dice.between(1, bounds.line),
                        .lead_tokens = dice.between(1, bounds.lead),
                        .out_tokens = dice.between(1, bounds.out),
                        .dependencies = {}};
        for (int before = 1; before < i; ++before)
            if (dice.one_in(3)) node.dependencies.push_back(before);
        plan.ar_tokens += node.out_tokens;
        plan.nodes.push_back(std::move(node));
    }
    return plan;
}

Mode draw_mode(Dice& dice, const std::string& name) {
    const std::size_t drawn = std::min<std::size_t>(dice.below(8), values_of<Mode>.size() - 1);
    return name.empty() ? values_of<Mode>[drawn] : of_word<Mode>(name).value();
}

void check_text(const LiveRun& undisturbed, Mode mode,
                std::span<const std::vector<AnsweredPart>> parts) {
    const std::size_t first = mode == Mode::ar ? 0 : 1;
    for (std::size_t q = 0; q < undisturbed.answers.size(); ++q) {
        const auto& nodes = undisturbed.answers[q].nodes;
        if (first == 1 &&
            parts[q][0].log_probabilities != undisturbed.answers[q].plan_log_probabilities)
            throw BrokenRule(fmt::format(
                "the plan of question {} is told with other probabilities than without faults", q));
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (parts[q][i + first] != AnsweredPart{nodes[i].ids, nodes[i].log_probabilities})
                throw BrokenRule(fmt::format(
                    "part {} of question {} is another text than without faults", i + first, q));
    }
}

}  // namespace assay::plato
