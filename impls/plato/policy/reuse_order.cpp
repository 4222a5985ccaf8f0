#include "impls/plato/policy/reuse_order.hpp"

#include <algorithm>

namespace assay::plato {

PlanRecord ordered_for_reuse(PlanRecord plan) {
    for (NodeRecord& node : plan.nodes) {
        const auto& wanted = node.dependencies;
        const auto is_wanted = [&](int number) {
            return std::binary_search(wanted.begin(), wanted.end(), number);
        };
        std::vector<int> beginning;
        std::int64_t most = 0;
        for (const int last : wanted) {
            std::vector<int> sequence = plan.node(last).in_prompt();
            if (!std::all_of(sequence.begin(), sequence.end(), is_wanted)) continue;
            sequence.push_back(last);
            std::int64_t tokens = 0;
            for (const int each : sequence)
                tokens += plan.node(each).lead_tokens + plan.node(each).out_tokens;
            if (tokens <= most) continue;
            most = tokens;
            beginning = std::move(sequence);
        }
        for (const int each : wanted)
            if (std::find(beginning.begin(), beginning.end(), each) == beginning.end())
                beginning.push_back(each);
        node.context = std::move(beginning);
    }
    return plan;
}

}  // namespace assay::plato
